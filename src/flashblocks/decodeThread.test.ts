import type { Worker } from 'node:worker_threads'
import { brotliCompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { signedBy } from '#test/harness/chain/blocks'
import { flashblockAt, messageOf } from '#test/harness/flashblocks/messages'
import { decodeMessage } from './decode.ts'
import { DecodeThread, startWorker } from './decodeThread.ts'

const flashblock = { ...flashblockAt(11, 0), transactions: [Uint8Array.of(2, 1), new Uint8Array(1_000).fill(7), Uint8Array.of(3)] }
const plain = Buffer.from(messageOf(flashblock))

it('flashblocks/decodeThread: decodes like decodeMessage: plain, brotli, part of a larger buffer, bad messages', async () => {
  using thread = new DecodeThread()
  const within = Buffer.concat([Buffer.alloc(100_000), plain, Buffer.alloc(7)]).subarray(100_000, 100_000 + plain.length)
  const messages = [plain, brotliCompressSync(plain), within, Buffer.from('{'), Buffer.from('text'), new Uint8Array(0)]
  expect(await Promise.all(messages.map((message) => thread.decode(message)))).toEqual(messages.map(decodeMessage))
})

it('flashblocks/decodeThread: rejects the message in decoding when the thread ends, and decodes the next in a new thread', async () => {
  const workers: Worker[] = []
  using thread = new DecodeThread(() => {
    const worker = startWorker()
    workers.push(worker)
    return worker
  })
  const lost = thread.decode(plain)
  await workers[0]?.terminate()
  await expect(lost).rejects.toThrow('the decoding thread ended with code')
  expect(await thread.decode(plain)).toEqual(decodeMessage(plain))
  expect(workers).toHaveLength(2)
})

it('flashblocks/decodeThread: recovers the senders of a flashblock once for all publishers that send it, and of no small one', async () => {
  using thread = new DecodeThread()
  const transactions = Array.from({ length: 20 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
  const message = Buffer.from(messageOf({ ...flashblockAt(12, 0), transactions }))
  const small = Buffer.from(messageOf({ ...flashblockAt(12, 1), transactions: transactions.slice(0, 5) }))
  expect(await thread.decode(message)).toMatchObject({ flashblock: { senders: expect.any(SharedArrayBuffer) } })
  for (const other of [message, small]) expect(await thread.decode(other)).toEqual(decodeMessage(other))
})

it('flashblocks/decodeThread: rejects messages when it is closed', async () => {
  const thread = new DecodeThread()
  thread[Symbol.dispose]()
  await expect(thread.decode(plain)).rejects.toThrow('the decoding thread is closed')
})
