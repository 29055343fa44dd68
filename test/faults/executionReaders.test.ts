import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { l2RefOf } from '#chain/l2Ref'
import { openExecutionReader } from '#execution/executionReader'
import { startExecutionWorker } from '#execution/executionWorker'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { hashTransaction } from '#types/transaction'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chainBlocks.ts'
import { checkWhole, noteSeen, startReaderThread } from '../harness/readerThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-readers-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
let dirs = 0
function start() {
  const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
  return startExecutionWorker(deps, { dir: join(base, String(dirs++)), config, minFreeBytes: 0 })
}

it('faults/executionReaders: every thread sees whole views, and whatever any other thread has seen, over commits', async () => {
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

it('faults/executionReaders: the pool is the worker’s own, whoever adds to it; a reader knows when the worker is gone (EXECUTION_STOPPED)', async () => {
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
