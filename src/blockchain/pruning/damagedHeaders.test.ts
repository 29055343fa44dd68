import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { oldestState } from '#state/chainState'
import { openChainKv } from '#store/chainTables'
import { segmentsOf } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { createManualClock } from '#test/harness/clock'
import { fileOf, keptLog, moverOn, store } from '#test/harness/store/movingStore'
import { type PruneEvent, Pruner } from './pruner.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-damaged-headers-'))
let dirs = 0
afterAll(() => rmSync(base, { recursive: true }))

/** Returns the directory of a chain of 40 blocks, the first 30 in three segments, with damaged files of headers. @param firsts first blocks of these */
async function damagedAt(...firsts: readonly number[]): Promise<string> {
  const dir = join(base, String(dirs++))
  {
    await using kv = store(dir)
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  for (const first of firsts) truncateSync(fileOf(dir, 'headers', first), 300)
  return dir
}

/** The faults of damaged files of headers, as an event or a line of the log has them. */
const damaged = (dir: string, ...firsts: readonly number[]): unknown[] =>
  firsts.map((first) =>
    expect.objectContaining({
      error: expect.objectContaining({ code: 'SEGMENT_DAMAGED', data: expect.objectContaining({ path: fileOf(dir, 'headers', first) }) }),
    }),
  )

it.each([
  { firsts: [20], sec: 16, oldest: 32 },
  { firsts: [10, 20], sec: 16, oldest: 32 },
  { firsts: [10, 20], sec: 62, oldest: 9 },
  // the search cannot tell the blocks of the file apart: all of them stay
  { firsts: [20], sec: 30, oldest: 20 },
])(
  'blockchain/pruning: removes states older than $sec s with damaged files of headers at $firsts, and reports each once',
  async (given) => {
    const { firsts, sec, oldest } = given
    const dir = await damagedAt(...firsts)
    await using kv = openChainKv(dir)
    const clock = createManualClock()
    const events: PruneEvent[] = []
    using pruner = new Pruner({ kv, clock, retention: { history: { sec } }, onEvent: (event) => void events.push(event) })
    for (let times = 0; times < 3; times++) {
      pruner.committed(1)
      await clock.advanceMs(1_000)
    }
    using reader = kv.snapshot()
    expect(oldestState(reader)).toBe(oldest)
    const reported = events.filter((event) => 'error' in event)
    expect(reported).toHaveLength(firsts.length)
    expect(reported).toEqual(expect.arrayContaining(damaged(dir, ...firsts)))
  },
)

it('blockchain/pruning: rows are removed and blocks moved with a damaged file of headers, which the log names once', async () => {
  const dir = await damagedAt(20)
  await using kv = openChainKv(dir)
  const { log, lines } = keptLog()
  const { run, mover } = moverOn(dir, kv, { rows: { bodies: { sec: 16 }, receipts: 'all', logs: 'all' }, log })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  expect(lines).toEqual(damaged(dir, 20))
  using reader = kv.snapshot()
  expect([...segmentsOf(reader, tables.bodies.id)]).toEqual([])
})
