import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { createExecution } from '#blockchain/execution'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import type { L2Ref } from '#types/blockRef'
import { CommitThread } from './commitThread.ts'
import { startExecutionWorker } from './executionThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-moving-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

it('executionThread/moving: the commit thread moves finalized blocks, which all readers see as before, also after a restart', async () => {
  const dir = join(base, 'chain')
  const blocks: L2Ref[] = []
  const seen: unknown[] = []
  const look = (execution: ReturnType<typeof createExecution>): unknown[] => {
    using view = execution.view()
    return blocks.map(({ hash }) => [view.block(hash), view.receipts(hash)?.map(({ receipt, fees }) => ({ receipt, fees }))])
  }
  {
    await using kv = openChainKv(dir)
    agreeOnSchema(kv, chainSchema)
    const steps: MoverStep[] = []
    const lines: string[] = []
    const moving = { rows: { bodies: 'all', receipts: 'all', logs: 'all' } as const, minFreeBytes: 0 }
    await using committer = new CommitThread(dir, {
      moving,
      onMoved: (step) => void steps.push(step),
      onLog: ({ message }) => void lines.push(message),
    })
    const execution = createExecution({
      ...{ kv, committer, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog },
    })
    let parent = (await execution.heads()).unsafe
    for (let at = 0; at < 40; at++) {
      const attributes = attributesAt(schedule, parent.number + 1, [signedBy('alice', { value: 1n, nonce: BigInt(at) })])
      // six blocks an hour
      const built = await execution.build(parent, { ...attributes, timestamp: parent.timestamp + 600 })
      if (built.kind === 'invalid') expect.fail(built.reason)
      parent = l2RefOf(config, built.payload)
      blocks.push(parent)
    }
    const finalized = blocks[35] as L2Ref
    await execution.setHeads({ unsafe: parent, safe: finalized, finalized })
    seen.push(...look(execution))
    execution.commit()
    await vi.waitFor(() => expect(steps.reduce((sum, { moved }) => sum + moved, 0)).toBeGreaterThanOrEqual(30), 20_000)
    await vi.waitFor(() => expect(steps.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThanOrEqual(90), 20_000)
    expect(look(execution)).toEqual(seen)
    expect(lines).toContain('blocks moved to segment files')
    await execution.close()
  }
  expect(readdirSync(segmentsDir(dir)).length).toBeGreaterThanOrEqual(15)
  await using kv = openChainKv(dir)
  await using again = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  expect(look(again)).toEqual(seen)
}, 60_000)

it('executionThread/moving: the thread publishes again when the records of files are deleted, so that readers get new snapshots without a further block', async () => {
  const steps: MoverStep[] = []
  const records: unknown[] = []
  const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
  const rows = { bodies: 'all', receipts: { blocks: 8 }, logs: 'all' } as const
  await using worker = await startExecutionWorker(
    { ...deps, onMoved: (step) => void steps.push(step), onPublish: ({ heads }) => void records.push(heads) },
    { dir: join(base, 'chain'), config, minFreeBytes: 0, rows },
  )
  const { heads } = worker.published
  const unrecorded = (): number => steps.reduce((sum, step) => sum + step.unrecorded, 0)
  await vi.waitFor(() => expect(unrecorded()).toBeGreaterThanOrEqual(5), 20_000)
  // the first record is that of the start
  await vi.waitFor(() => expect(records).toEqual(Array.from({ length: 1 + unrecorded() }, () => heads)), 20_000)
  using view = worker.view()
  const hash = view.canonicalHash(3) ?? expect.fail()
  expect([view.block(hash)?.block.header.number, view.receipts(hash)]).toEqual([3, undefined])
}, 60_000)
