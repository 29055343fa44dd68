import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { openExecutionReader } from '#executionThread/executionReader'
import { startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashTransaction } from '#types/transaction'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chain/blocks.ts'
import { testAddress } from '../harness/evm/sessions.ts'
import { flashblocksOf } from '../harness/flashblocks/flashblocks.ts'
import { checkWhole, noteSeen, startReaderThread } from '../harness/process/readerThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-readers-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const transferTarget = testAddress(0x77)
let dirs = 0
function start() {
  const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
  return startExecutionWorker(deps, { dir: join(base, String(dirs++)), config, minFreeBytes: 0 })
}

it('faults/executionReaders: gives every thread consistent views, with every head that another thread has read, over commits', async () => {
  const worker = await start()
  const shared = new SharedArrayBuffer(8)
  const seen = new Int32Array(shared)
  const readers = await Promise.all([0, 1, 2].map(() => startReaderThread({ chain: worker.reader(), seen: shared })))
  let { unsafe: head, safe, finalized } = await worker.heads()
  const endMs = performance.now() + 2_500
  while (performance.now() < endMs) {
    const built = await worker.build(head, attributesAt(schedule, head.number + 1, [signedBy('alice', { nonce: BigInt(head.number) })]))
    head = l2RefOf(config, built.kind === 'built' ? built.payload : expect.fail(built.reason))
    await worker.setHeads({ unsafe: head, safe, finalized })
    using view = worker.view()
    noteSeen(seen, checkWhole(view))
  }
  Atomics.store(seen, 0, 1)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(worker.published.committed.number).toBeGreaterThan(0)
  await worker[Symbol.asyncDispose]()
  for (const { looked } of readers) {
    const { views, failure, end } = await looked
    expect([failure, end]).toEqual([undefined, 'EXECUTION_STOPPED'])
    expect(views).toBeGreaterThan(30)
  }
}, 30_000)

it('faults/executionReaders: shares the worker’s pool between all threads; readers report when the worker has exited (EXECUTION_STOPPED)', async () => {
  const worker = await start()
  await using reader = await openExecutionReader(worker.reader(), { clock: systemClock })
  const raws = [0n, 1n].map((nonce) => signedBy('alice', { nonce }))
  expect(await reader.pool.add(raws[0] ?? expect.fail())).toMatchObject({ kind: 'added' })
  expect(await worker.pool.add(raws[1] ?? expect.fail())).toMatchObject({ kind: 'added' })
  expect([await reader.pool.size(), await worker.pool.size()]).toEqual(Array(2).fill({ pending: 2, queued: 0 }))
  expect((await reader.pool.content()).map(({ raw }) => raw)).toEqual(raws)
  expect(await reader.pool.get(hashTransaction(raws[1] ?? expect.fail()))).toMatchObject({ isPending: true })
  {
    using view = reader.view()
    expect(view.heads.latest).toEqual({ number: 0, hash: worker.published.heads.unsafe.hash })
  }
  await worker[Symbol.asyncDispose]()
  const stopped = { code: 'EXECUTION_STOPPED' }
  await expect(reader.ended).rejects.toMatchObject(stopped)
  await expect(reader.pool.size()).rejects.toMatchObject(stopped)
  expect(() => reader.view()).toThrow(expect.objectContaining(stopped))
})

it('faults/executionReaders: gives all readers, including late ones, the same pending blocks once a flashblock is executed', async () => {
  const maker = createExecution({
    ...{ kv: createMemoryKv(), evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog },
  })
  const transactions = [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce }))
  const built = await maker.build(config.genesis.l2, attributesAt(schedule, 1, transactions))
  const payload = built.kind === 'built' ? built.payload : expect.fail(built.reason)
  await using worker = await start()
  await using early = await openExecutionReader(worker.reader(), { clock: systemClock })
  const seen = (of: Pick<typeof worker, 'view'>): unknown => {
    using view = of.view()
    const { latest, pending } = view.heads
    const id = pending ?? latest
    const receipts = view.receipts(id.hash)?.map(({ receipt }) => receipt)
    return [id, view.block(id.hash)?.block.transactions.length, receipts, view.state(id)?.prove(transferTarget, [])]
  }
  const flashblocks = flashblocksOf(maker, payload, [1, 2, 3])
  for (const [i, flashblock] of flashblocks.entries()) {
    expect(await takeNext(worker, flashblock, systemClock.nowMs() + 60_000)).toMatchObject({ kind: 'taken' })
    await using late = await openExecutionReader(worker.reader(), { clock: systemClock })
    expect(seen(worker)).toMatchObject([{ number: 1 }, i + 1, { length: i + 1 }, expect.anything()])
    expect([seen(early), seen(late)]).toEqual([seen(worker), seen(worker)])
  }
  expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
  await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  expect([worker.published.pending, worker.published.heads.unsafe.hash, worker.sizes().reused]).toEqual([undefined, payload.blockHash, 1])
  expect(seen(early)).toEqual(seen(worker))
})
