import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { l2RefOf } from '#chain/l2Ref'
import { type ExecutionWorker, startExecutionWorker } from '#execution/executionWorker'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { hashTransaction } from '#types/transaction'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chainBlocks.ts'
import { endNewestThread } from '../harness/mortalThread.ts'

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../harness/mortalThread.ts')).MortalWorker,
}))

const dir = mkdtempSync(join(tmpdir(), 'basalt-pool-'))
afterAll(() => rmSync(dir, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }

/** A worker and the end of its thread without a warning. */
async function start(): Promise<{ worker: ExecutionWorker; kill(): Promise<void> }> {
  const worker = await startExecutionWorker(deps, { dir: join(dir, 'chain'), config, minFreeBytes: 0, pool: { maxTransactionBytes: 200 } })
  worker.ended.catch(() => {})
  return {
    worker,
    async kill() {
      await endNewestThread()
      await worker[Symbol.asyncDispose]()
    },
  }
}

it('faults/executionWorker: the pool has what it answered after a kill, less what a block has since; limits reach it', async () => {
  const raws = [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce }))
  const long = signedBy('bob', { data: new Uint8Array(300), gasLimit: 60_000n })
  {
    const { worker, kill } = await start()
    expect(await Promise.all(raws.map((raw) => worker.pool.add(raw)))).toMatchObject(Array(3).fill({ kind: 'added' }))
    expect(await worker.pool.add(long)).toMatchObject({ kind: 'refused', refusal: { kind: 'oversized', limit: 200 } })
    expect(worker.sizes().pool).toMatchObject({ pending: 0 })
    await kill()
  }
  {
    const { worker, kill } = await start()
    expect([await worker.pool.size(), await worker.pool.nextNonce(accountOf('alice'))]).toEqual([{ pending: 3, queued: 0 }, 3n])
    await worker.pool.limitBlocks({ maxBlockBytes: 150 })
    const heads = await worker.heads()
    const built = await worker.build(heads.unsafe, { ...attributesAt(schedule, 1), noTxPool: false })
    const payload = built.kind === 'built' ? built.payload : expect.fail(built.reason)
    expect(payload.transactions.slice(1)).toEqual(raws.slice(0, 1))
    await worker.setHeads({ ...heads, unsafe: l2RefOf(config, payload) })
    expect(await worker.pool.size()).toEqual({ pending: 2, queued: 0 })
    await kill()
  }
  const { worker, kill } = await start()
  expect((await worker.heads()).unsafe.number).toBe(1)
  expect((await worker.pool.content()).map(({ hash }) => hash)).toEqual(raws.slice(1).map(hashTransaction))
  await kill()
})

it('faults/executionWorker: a block under way and a transaction on its way end with the thread (EXECUTION_STOPPED)', async () => {
  const { worker, kill } = await start()
  const { unsafe } = await worker.heads()
  const sound = Promise.withResolvers<void>()
  const number = unsafe.number + 1
  const attributes = { ...attributesAt(schedule, number), noTxPool: false }
  const building = worker.build(unsafe, attributes, new AbortController().signal, sound.resolve)
  await sound.promise
  const ended = Promise.allSettled([building, worker.pool.add(signedBy('bob', {}))])
  await kill()
  const [block] = await ended
  expect(block).toMatchObject({ status: 'rejected', reason: { code: 'EXECUTION_STOPPED' } })
  await expect(worker.pool.add(signedBy('bob', {}))).rejects.toMatchObject({ code: 'EXECUTION_STOPPED' })
})
