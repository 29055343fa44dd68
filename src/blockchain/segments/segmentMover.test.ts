import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { storeFault } from '#store/faults'
import type { Kv } from '#store/ports'
import { readMoved, readPruned, segmentsOf } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { createManualClock } from '#test/harness/clock'
import { blocks, bounds, builderOn, fileOf, genesis, grow, killed, moverOn, rowCount, seen, store } from '#test/harness/store/movingStore'
import type { BlockId } from '#types/blockRef'
import { readHeads } from '../chainStore.ts'
import { commitBranch, commitGenesis } from '../commit/commit.ts'
import { commitRows } from '../commit/committer.ts'
import { readIndexMark } from '../logIndex/logIndex.ts'
import { buildSegments } from './buildSegments.ts'
import type { RowPruner, RowRetention, StepLimits } from './rowPruner.ts'
import { type MoverStep, SegmentMover } from './segmentMover.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-mover-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

it('blockchain/segments: moves finalized blocks to files, range by range, and every row reads as before', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  using reader = kv.snapshot()
  expect(readMoved(reader)).toBe(30)
  expect([...segmentsOf(reader, tables.bodies.id)].map(({ first, last }) => [first, last])).toEqual([
    [0, 9],
    [10, 19],
    [20, 29],
  ])
  expect(readdirSync(segmentsDir(dir))).toHaveLength(9)
  expect(rowCount(kv)).toBe(3 * 11)
  expect(seen(kv)).toEqual(before)
})

it('blockchain/segments: no transaction unwinds a block whose rows are in a file (CHAIN_STORE_DAMAGED)', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  const before = seen(kv)
  const idAt = (number: number) => ({ number, hash: blocks[number - 1]?.hash ?? genesis.block.hash })
  const unwindTo = (number: number): void => {
    const [head, ancestor] = [idAt(40), idAt(number)]
    kv.write((tx) => commitBranch(tx, head, { ancestor, blocks: [] }, { unsafe: ancestor, safe: ancestor, finalized: ancestor }, 41))
  }
  expect(() => unwindTo(28)).toThrow(expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED', message: expect.stringContaining('block 29') }))
  expect(seen(kv)).toEqual(before)
  unwindTo(29)
  expect(seen(kv)).toEqual([...before.slice(0, 30), ...Array.from({ length: 11 }, () => undefined)])
})

it('blockchain/segments: a segment ends where a window of the time changes, or with the bytes of its rows', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const request = { of: 'blocks' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 1, upTo: 35 }
  const windowSec = 24
  const window = (number: number): number => Math.floor((blocks[number - 1]?.header.timestamp ?? 0) / windowSec)
  const change = Array.from({ length: 34 }, (_, at) => at + 1).find((number) => window(number) !== window(number + 1))
  expect(change).toBeGreaterThan(1)
  expect(buildSegments(kv, { ...request, bounds: { ...bounds, blocks: 100, windowSec } })?.last).toBe(change)
  const large = buildSegments(kv, { ...request, bounds: { blocks: 100, rowBytes: 2_000, windowSec: 86_400 } })
  expect(large?.last).toBeLessThan(10)
  expect(Math.max(...(large?.records.map(({ rowBytes }) => rowBytes) ?? []))).toBeGreaterThanOrEqual(2_000)
})

it('blockchain/segments: nothing is built while the range may grow, or when the build is ended', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const request = { of: 'blocks' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 30, upTo: 35, bounds }
  expect(buildSegments(kv, request)).toBeUndefined()
  expect(buildSegments(kv, { ...request, from: 0 }, () => true)).toBeUndefined()
  expect(existsSync(segmentsDir(dir)) ? readdirSync(segmentsDir(dir)) : []).toEqual([])
})

/** Returns tables with a list to which each transaction that deletes rows adds the tables of these rows. */
function watchedDeletions(kv: Kv): { readonly watched: Kv; readonly steps: number[][] } {
  const steps: number[][] = []
  const watched: Kv = {
    ...kv,
    write: (run) =>
      kv.write((tx) => {
        const remove = vi.spyOn(tx, 'delete')
        const result = run(tx)
        const deleted = remove.mock.calls.map(([table]) => table)
        remove.mockRestore()
        if (deleted.length > 0) steps.push(deleted)
        return result
      }),
  }
  return { watched, steps }
}

it.each([
  ['ten of a segment', 0, 10],
  ['three when each look at the time takes two milliseconds', 2, 3],
])('blockchain/segments: a step deletes rows of one table, %s', async (_rows, lookMs, most) => {
  const dir = newDir()
  await using kv = store(dir)
  const { watched, steps } = watchedDeletions(kv)
  const { run, clock, mover } = moverOn(dir, watched)
  await using _mover = mover
  let lookedMs = 0
  vi.spyOn(clock, 'elapsedMs').mockImplementation(() => (lookedMs += lookMs))
  for (let times = 0; times < 40; times++) await run()
  expect(steps.map((deleted) => new Set(deleted).size)).toEqual(steps.map(() => 1))
  expect(Math.max(...steps.map(({ length }) => length))).toBe(most)
  expect(rowCount(kv)).toBe(3 * 11)
})

it('blockchain/segments: a thread that only writes moves all blocks, in a quarter of its time, while there are always old rows to remove', async () => {
  const dir = newDir()
  await using kv = store(dir)
  let [nowMs, removals] = [0, 0]
  const clock = { elapsedMs: () => ++nowMs, after: () => ({ [Symbol.dispose](): void {} }) }
  const step = (): object => {
    removals++
    return { rows: 1, files: 0 }
  }
  const pruner = { waitMs: () => undefined, step } as unknown as RowPruner
  await using mover = new SegmentMover({
    kv,
    clock,
    log: silentLog,
    builder: builderOn(kv, {}),
    pruner,
    dir: segmentsDir(dir),
    minFreeBytes: 0,
    bounds,
  })
  const tookMs: number[] = []
  for (let transactions = 0; transactions < 20; transactions++) {
    const startMs = nowMs
    mover.committed(100)
    tookMs.push(nowMs - startMs)
    await Promise.resolve()
  }
  expect(rowCount(kv)).toBe(3 * 11)
  expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(25)
  expect(Math.max(...tookMs)).toBeLessThan(30)
  expect(removals).toBe(90)
})

it.each([
  ['hundreds of rows where it waits for the disk', (rows: number) => 15 + rows / 100, 256, 1_024],
  ['hundreds of rows where the wait is short', (rows: number) => 6 + rows / 100, 200, 512],
  ['rows for ten milliseconds where they take the time', (rows: number) => rows, 5, 12],
])('blockchain/segments: after a minute of a slow disk a step has %s', async (_what, msOf, least, most) => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  let [nowMs, slowMs] = [0, 100]
  const clock = { elapsedMs: () => nowMs, after: () => ({ [Symbol.dispose](): void {} }) }
  const sizes: number[] = []
  const step = ({ rowsIn }: StepLimits): object => {
    const table = tables.txByHash.id
    const rows = rowsIn(table)
    nowMs += msOf(rows) + slowMs
    sizes.push(rows)
    return { table, rows, files: 0 }
  }
  const pruner = { waitMs: () => undefined, step } as unknown as RowPruner
  await using mover = new SegmentMover({ kv, clock, log: silentLog, builder: builderOn(kv, {}), pruner, dir, minFreeBytes: 0, bounds })
  mover.committed(240_000)
  slowMs = 0
  mover.committed(40_000)
  const last = sizes.slice(-20)
  expect(Math.min(...last)).toBeGreaterThanOrEqual(least)
  expect(Math.max(...last)).toBeLessThanOrEqual(most)
})

it('blockchain/segments: a missing row ends moving with its block; nothing is lost', async () => {
  const dir = newDir()
  await using kv = store(dir)
  kv.write((tx) => {
    const [key] = tx.keys(tables.bodies.id, { limit: 1 })
    if (key) tx.delete(tables.bodies.id, key)
  })
  expect(() => buildSegments(kv, { of: 'blocks', dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 35, bounds })).toThrow(
    expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED', message: expect.stringContaining('block 0 in bodies') }),
  )
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  await run()
  expect(rowCount(kv)).toBe(3 * 41 - 1)
})

it('blockchain/segments: a build on a full disk is tried again after a minute', async () => {
  const dir = newDir()
  await using kv = store(dir)
  let failures = 0
  const full = storeFault('DISK_FULL', { dir, reason: 'ENOSPC' })
  const { run, mover, clock } = moverOn(dir, kv, { fails: () => (failures++ < 1 ? full : undefined) })
  await using _mover = mover
  await run()
  await run()
  expect(failures).toBe(1)
  await clock.advanceMs(60_000)
  await run()
  await run()
  using reader = kv.snapshot()
  expect(readMoved(reader)).toBeGreaterThan(0)
})

it('blockchain/segments: a file without a record is removed while the disk is too full to record the next ones', async () => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  kv.write((tx) => commitGenesis(tx, genesis.block))
  grow(kv, 1, 25)
  let isFull = false
  const write: Kv['write'] = (change) => {
    if (isFull) throw storeFault('DISK_FULL', { dir, reason: 'ENOSPC' })
    return kv.write(change)
  }
  const rows: RowRetention = { bodies: { blocks: 12 }, receipts: 'all', logs: 'all' }
  let unrecorded = 0
  const onStep = (step: MoverStep): void => {
    unrecorded += step.unrecorded
  }
  const { run, mover, clock } = moverOn(dir, { ...kv, write }, { rows, onStep })
  await using _mover = mover
  for (let times = 0; times < 10 && unrecorded === 0; times++) await run()
  const left = fileOf(dir, 'bodies', 0)
  grow(kv, 26, 40)
  isFull = true
  await run()
  expect(readdirSync(segmentsDir(dir)).some((name) => name.startsWith('bodies-000000000020'))).toBe(true)
  await clock.advanceMs(60_000)
  await clock.advanceMs(60_000)
  expect(existsSync(left)).toBe(false)
  isFull = false
  await clock.advanceMs(60_000)
  for (let times = 0; times < 6; times++) await run()
  using reader = kv.snapshot()
  expect([readMoved(reader), readPruned(reader, tables.bodies.id)]).toEqual([30, 20])
})

it('blockchain/segments: blocks are committed while older logs are indexed over a damaged file of receipts', async () => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  kv.write((tx) => commitGenesis(tx, genesis.block))
  grow(kv, 1, 39)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  truncateSync(fileOf(dir, 'receipts', 10), 300)
  kv.write((tx) => {
    for (const key of [...tx.keys(tables.logIndex.id, {})]) tx.delete(tables.logIndex.id, key)
    tx.delete(tables.meta.id, new TextEncoder().encode('logs.index'))
  })
  const [last, next] = [blocks[38] ?? expect.fail(), blocks[39] ?? expect.fail()]
  const [committed, head] = [last, next].map(({ header: { number }, hash }) => ({ number, hash })) as [BlockId, BlockId]
  const heads = { unsafe: head, safe: committed, finalized: committed }
  commitRows(kv, createManualClock(), { committed, branch: { ancestor: committed, blocks: [next] }, heads, sequence: 40 })
  using reader = kv.snapshot()
  expect(readHeads(reader)).toEqual(heads)
  expect(readIndexMark(reader)?.from).toBe(20)
})

it('blockchain/segments: a kill between any two effects loses no row, and the next start completes the move', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = store(dir)
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv, { onEffect: () => void copies.push(killed(dir, newDir())) })
  await using _mover = mover
  for (let times = 0; times < 3; times++) await run()
  expect(copies.length).toBeGreaterThan(20)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    expect(seen(again)).toEqual(before)
    const next = moverOn(copy, again)
    await using _next = next.mover
    for (let times = 0; times < 6; times++) await next.run()
    expect(seen(again)).toEqual(before)
    expect(rowCount(again)).toBe(3 * 11)
    expect(readdirSync(segmentsDir(copy))).toHaveLength(9)
  }
}, 60_000)

it('blockchain/segments: a directory that cannot be written ends moving; blocks stay in the tables', async () => {
  const dir = newDir()
  await using kv = store(dir)
  rmSync(segmentsDir(dir), { recursive: true, force: true })
  // a file instead of the directory: this test may run as root, whom modes do not stop
  writeFileSync(segmentsDir(dir), '')
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  await run()
  await run()
  expect(seen(kv)).toEqual(before)
  expect(rowCount(kv)).toBe(3 * 41)
})
