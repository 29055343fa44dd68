// A thread that reads the chain of an execution worker until a test stops it.
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { ExecutionView } from '#blockchain/view/chainView'
import { openExecutionReader } from '#executionThread/executionReader'
import type { ReaderSettings } from '#executionThread/wire/protocol'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { hashHeader } from '#types/header'
import { testAddress } from '../evm/sessions.ts'

type Settings = {
  readonly chain: ReaderSettings
  /** [1 when the test has ended, highest head that any thread has read] */
  readonly seen: SharedArrayBuffer
}

/** Number of views, the error that ended the reads, and the code of the fault with which the reader ended. */
export type Looked = { readonly views: number; readonly failure: string | undefined; readonly end: string }

/** Records a head for the other threads. */
export function noteSeen(seen: Int32Array, number: number): void {
  for (let highest = Atomics.load(seen, 1); highest < number; highest = Atomics.load(seen, 1))
    Atomics.compareExchange(seen, 1, highest, number)
}

/** Checks that all reads of a view belong to its head, down to the trie. Each block sends one wei. @returns the number of the head */
export function checkWhole(view: ExecutionView): number {
  const { latest } = view.heads
  const header = view.header(latest.hash)
  assert(header, `no header of ${latest.number}`)
  assert.equal(hashHeader(header), latest.hash)
  assert.deepEqual([view.canonicalHash(latest.number), view.canonicalHash(latest.number + 1)], [latest.hash, undefined])
  const { account, proof } = view.state(latest)?.prove(testAddress(0x77), []) ?? assert.fail(`no state of ${latest.number}`)
  assert.equal(toHex(keccak256(proof[0] ?? new Uint8Array(0))), header.stateRoot)
  assert.equal(account?.balance ?? 0n, BigInt(latest.number))
  const receipts = view.receipts(latest.hash)
  assert.equal(receipts?.length, view.block(latest.hash)?.block.transactions.length)
  if (latest.number > 0) assert.equal(view.canonicalHash(latest.number - 1), header.parentHash)
  return latest.number
}

/** Reads until the test ends. Each view must include every head that another thread has read before. */
async function look({ chain, seen: shared }: Settings): Promise<Looked> {
  const reader = await openExecutionReader(chain, { clock: systemClock })
  const seen = new Int32Array(shared)
  let views = 0
  let failure: string | undefined
  parentPort?.postMessage('opened')
  try {
    while (Atomics.load(seen, 0) === 0) {
      const atLeast = Atomics.load(seen, 1)
      using view = reader.view()
      const number = checkWhole(view)
      assert(number >= atLeast, `another thread has read block ${atLeast}, here the head is ${number}`)
      noteSeen(seen, number)
      if (++views % 5 === 0) await nextTurn()
    }
  } catch (error) {
    failure = String(error)
  }
  const end = await reader.ended.catch((error: { code: string }) => error.code)
  await reader[Symbol.asyncDispose]()
  return { views, failure, end }
}

if (parentPort && workerData) parentPort.postMessage(await look(workerData as Settings))

/** Starts a thread. @returns, once it reads, a promise of its result */
export async function startReaderThread(settings: Settings): Promise<{ readonly looked: Promise<Looked> }> {
  const thread = new Worker(new URL(import.meta.url), { workerData: settings, transferList: [settings.chain.port] })
  const opened = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<Looked>()
  thread.on('message', (message: Looked | 'opened') => (message === 'opened' ? opened.resolve() : looked.resolve(message)))
  thread.once('error', looked.reject)
  await Promise.race([opened.promise, looked.promise])
  return { looked: looked.promise }
}
