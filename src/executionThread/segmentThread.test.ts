import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readGenesisId } from '#blockchain/chainStore'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { tables } from '#store/tables'
import { joinLogs } from '#test/harness/store/logRuns'
import { storedChain } from '#test/harness/store/storedChain'
import { SegmentThread } from './segmentThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-segment-thread-'))
const dir = join(base, 'chain')
beforeAll(() => storedChain(base, 30), 60_000)
afterAll(() => rmSync(base, { recursive: true }))

const bounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 3_600 }

it('executionThread/segmentThread: builds the same files as this thread, returns faults, and ends on request', async () => {
  await using kv = openChainKv(dir)
  using reader = kv.snapshot()
  const genesis = readGenesisId(reader)?.hash ?? expect.fail()
  const request = { of: 'blocks' as const, dir: segmentsDir(dir), genesis, from: 0, upTo: 29, bounds }
  const thread = new SegmentThread(dir)
  const built = await thread.build(request)
  expect(built).toEqual(buildSegments(kv, { ...request, dir: join(base, 'other') }))
  expect(readdirSync(segmentsDir(dir))).toEqual(readdirSync(join(base, 'other')))
  joinLogs(kv, 4)
  const logs = { ...request, of: 'logs' as const }
  const builtLogs = await thread.build(logs)
  expect(builtLogs).toEqual(buildSegments(kv, { ...logs, dir: join(base, 'other') }))
  expect(builtLogs?.records.map(({ table }) => table)).toEqual([tables.logIndex.id])
  writeFileSync(join(base, 'file'), '')
  await expect(thread.build({ ...request, dir: join(base, 'file') })).rejects.toMatchObject({ name: 'Fault' })
  const last = thread.build({ ...request, from: 10 })
  await thread[Symbol.asyncDispose]()
  expect([undefined, 19]).toContain((await last)?.last)
}, 60_000)
