import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { hashTransaction } from '#types/transaction'
import { accountOf, attributesAt, signedBy } from '../harness/chain/blocks.ts'
import { schedule, startMortalProcess, startSmallExecution } from '../harness/process/mortalProcess.ts'
import { startMortal } from '../harness/process/mortalThread.ts'

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../harness/process/mortalThread.ts')).MortalWorker,
}))

const dir = mkdtempSync(join(tmpdir(), 'basalt-pool-'))
afterAll(() => rmSync(dir, { recursive: true }))

const settings = { dir: join(dir, 'chain'), pool: { maxTransactionBytes: 200 } }

it('faults/executionWorker: keeps acknowledged pool transactions over a kill, except those in blocks; applies limits', async () => {
  const raws = [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce }))
  const long = signedBy('bob', { data: new Uint8Array(300), gasLimit: 60_000n })
  {
    await using execution = startMortalProcess(settings)
    expect(await Promise.all(raws.map((raw) => execution.tell('add', raw)))).toMatchObject(Array(3).fill({ kind: 'added' }))
    expect(await execution.tell('add', long)).toMatchObject({ kind: 'refused', refusal: { kind: 'oversized', limit: 200 } })
    expect((await execution.tell('publishedSizes')).pool).toMatchObject({ pending: 0 })
    await execution.kill()
  }
  {
    await using execution = startMortalProcess(settings)
    expect(await execution.tell('poolSize')).toEqual({ pending: 3, queued: 0 })
    expect(await execution.tell('nextNonce', accountOf('alice'))).toBe(3n)
    await execution.tell('limitBlocks', { maxBlockBytes: 150 })
    const payload = await execution.tell('extend', { ...attributesAt(schedule, 1), noTxPool: false })
    expect(payload.transactions.slice(1)).toEqual(raws.slice(0, 1))
    expect(await execution.tell('poolSize')).toEqual({ pending: 2, queued: 0 })
    await execution.kill()
  }
  await using worker = await startSmallExecution(settings)
  expect((await worker.heads()).unsafe.number).toBe(1)
  expect((await worker.pool.content()).map(({ hash }) => hash)).toEqual(raws.slice(1).map(hashTransaction))
})

it('faults/executionWorker: ends a build and a pending add when the thread ends (EXECUTION_STOPPED)', async () => {
  const fresh = { ...settings, dir: join(dir, 'fresh') }
  await (await startSmallExecution(fresh))[Symbol.asyncDispose]()
  const { started, endExecution } = await startMortal(() => startSmallExecution(fresh))
  await using worker = started
  worker.ended.catch(() => {})
  expect(await worker.pool.add(signedBy('alice', {}))).toMatchObject({ kind: 'added' })
  const { unsafe } = await worker.heads()
  const sound = Promise.withResolvers<void>()
  const attributes = { ...attributesAt(schedule, 1), noTxPool: false }
  const building = worker.build(unsafe, attributes, new AbortController().signal, sound.resolve)
  await sound.promise
  const ended = Promise.allSettled([building, worker.pool.add(signedBy('bob', {}))])
  await endExecution()
  const [block] = await ended
  expect(block).toMatchObject({ status: 'rejected', reason: { code: 'EXECUTION_STOPPED' } })
  await expect(worker.pool.add(signedBy('bob', {}))).rejects.toMatchObject({ code: 'EXECUTION_STOPPED' })
})
