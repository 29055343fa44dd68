import { mkdtempSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { openChainKv, openForeignChainReader, segmentsDir } from '#store/chainTables'
import type { Kv, RowReader } from '#store/ports'
import { deleteSegment, putSegment, readMoved, segmentsOf } from '#store/segments/segmentRecords'
import { KeyedSegmentWriter } from '#store/segments/segmentWriter'
import { tables } from '#store/tables'
import { joinLogs } from '#test/harness/store/logRuns'
import { allLogs, differencesIn, indexedStore, keysIn, logFiles, logsIn, moveAll, rangesIn, read } from '#test/harness/store/movedLogs'
import { blocks, fileOf, genesis, killed, moverOn, store } from '#test/harness/store/movingStore'
import { commitBranch } from '../commit/commit.ts'
import { indexedBlock, joinedRows, readIndexMark } from '../logIndex/logIndex.ts'
import { rowRange } from '../logIndex/logIndexRows.ts'
import { buildSegments } from './buildSegments.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-log-mover-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

const table = tables.logIndex.id

/** Computes the log index of blocks from their receipts. */
const indexOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => {
    const executed = blocks[from + at - 1]?.executed ?? []
    return indexedBlock(executed.map(({ receipt }) => receipt.logs))
  })

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }
const rowTexts = (rows: Iterable<Row>): string[] => [...rows].map(({ key, value }) => `${toHex(key)} ${toHex(value)}`).sort()
/** Returns the pages and the block ends before block 24. */
const rowsIn = (rows: RowReader | undefined): string[] =>
  rowTexts((['page', 'segment'] as const).flatMap((kind) => [...(rows?.range(table, rowRange(kind, 0, 24)) ?? [])]))

it('blockchain/segments: moves whole segments of the log index, after the rows of their blocks, and every search finds the same', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  expect(read(kv, logsIn)).toEqual(allLogs())
  await moveAll(dir, kv)
  // bounds of ten blocks: two segments of four each; those after block 23 wait for more moved blocks
  expect(rangesIn(kv)).toEqual([
    [0, 7],
    [8, 15],
    [16, 23],
  ])
  expect(logFiles(dir)).toHaveLength(3)
  expect(keysIn(kv).every((key) => Number.parseInt(key.slice(4, 20), 16) >= 24)).toBe(true)
  expect(read(kv, logsIn)).toEqual(allLogs())
  await using source = openForeignChainReader(dir)
  expect(read(source, logsIn)).toEqual(allLogs())
  expect(kv.write(logsIn)).toEqual(allLogs())
  expect(differencesIn(kv)).toEqual([])
})

it('blockchain/segments: a file of the log index has the rows of its segments joined; the same segments make the same file', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const moved = read(kv, (reader) => rowsIn(reader.moved))
  const joined = [0, 8, 16].flatMap((first) => [...joinedRows(first, indexOf(first, first + 7))])
  expect(moved).toEqual(rowTexts(joined))
  const other = newDir()
  await using again = indexedStore(other)
  await moveAll(other, again)
  expect(logFiles(other)).toEqual(logFiles(dir))
})

it('blockchain/segments: at the bound of entries the next segment begins, with the rows of the table in the order of their keys', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const request = { of: 'logs' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 39 }
  const build = (entries: number, first: number, length: number) => {
    const built = buildSegments(kv, { ...request, bounds: { blocks: 24, rowBytes: 2 ** 20, windowSec: 3_600, entries } })
    expect(built?.last).toBe(23)
    for (const record of built?.records ?? []) kv.write((tx) => putSegment(tx, record))
    const rows = read(kv, (reader) => rowsIn(reader.moved))
    kv.write((tx) => deleteSegment(tx, { table, first: 0 }))
    const parts = Array.from({ length }, (_, at) => [...joinedRows(at * first, indexOf(at * first, (at + 1) * first - 1))])
    expect(rows).toEqual(rowTexts(parts.flat()))
    return rows
  }
  const inTable = read(kv, rowsIn)
  expect(build(1, 4, 6)).toEqual(inTable)
  // two entries a block
  build(16, 8, 3)
  expect(read(kv, logsIn)).toEqual(allLogs())
})

it('blockchain/segments: a file of the log index ends where the window of the time of the last blocks changes, or with its bytes', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const request = { of: 'logs' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 35 }
  const windowSec = 24
  const window = (number: number): number => Math.floor(((blocks[number - 1] ?? genesis.block).header.timestamp ?? 0) / windowSec)
  const ends = [3, 7, 11, 15, 19, 23, 27]
  const cut = ends.findLast((last) => window(last) === window(3))
  expect(cut).toBeLessThan(27)
  expect(buildSegments(kv, { ...request, bounds: { blocks: 100, rowBytes: 2 ** 20, windowSec } })?.last).toBe(cut)
  expect(buildSegments(kv, { ...request, bounds: { blocks: 100, rowBytes: 1, windowSec: 3_600 } })?.last).toBe(3)
  // at least one segment, however long
  expect(buildSegments(kv, { ...request, bounds: { blocks: 2, rowBytes: 2 ** 20, windowSec: 3_600 } })?.last).toBe(3)
  expect(buildSegments(kv, { ...request, upTo: 2 })).toBeUndefined()
  expect(buildSegments(kv, request, () => true)).toBeUndefined()
})

it('blockchain/segments: nothing of the log index moves while older blocks are being indexed', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  kv.write((tx) => {
    const [key, mark] = [new TextEncoder().encode('logs.index'), readIndexMark(tx)]
    const row = tx.get(tables.meta.id, key) ?? expect.fail()
    expect(mark?.from).toBe(0)
    row[7] = 4
    tx.put(tables.meta.id, key, row)
  })
  await moveAll(dir, kv)
  expect(rangesIn(kv)).toEqual([])
})

it('blockchain/segments: an unwind to the last moved block leaves the files, and searches find the logs of the blocks that stay', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const idAt = (number: number) => ({ number, hash: blocks[number - 1]?.hash ?? genesis.block.hash })
  const unwindTo = (number: number): void => {
    const [head, ancestor] = [idAt(40), idAt(number)]
    kv.write((tx) => commitBranch(tx, head, { ancestor, blocks: [] }, { unsafe: ancestor, safe: ancestor, finalized: ancestor }, 41))
  }
  expect(() => unwindTo(22)).toThrow(expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED' }))
  unwindTo(29)
  kv.write((tx) => {
    const ancestor = idAt(29)
    commitBranch(tx, ancestor, { ancestor, blocks: blocks.slice(29) }, { unsafe: idAt(40), safe: idAt(35), finalized: idAt(35) }, 42)
  })
  expect(read(kv, (reader) => readIndexMark(reader)?.open)).toBe(28)
  expect(read(kv, logsIn)).toEqual(allLogs())
  expect(differencesIn(kv)).toEqual([])
})

it('blockchain/segments: a kill between any two effects of moving the log index loses no row, and the next start completes the move', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = indexedStore(dir)
  const done = (): boolean => rangesIn(kv).length === 3 && !keysIn(kv).some((key) => Number.parseInt(key.slice(4, 20), 16) < 24)
  const onEffect = (): void => {
    if (read(kv, readMoved) === 30 && !done()) copies.push(killed(dir, newDir()))
  }
  const { run, mover } = moverOn(dir, kv, { onEffect })
  await using _mover = mover
  for (let times = 0; times < 10; times++) await run()
  expect(done()).toBe(true)
  expect(copies.length).toBeGreaterThan(15)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    expect(read(again, logsIn)).toEqual(allLogs())
    await moveAll(copy, again)
    expect(read(again, logsIn)).toEqual(allLogs())
    expect(rangesIn(again)).toEqual(rangesIn(kv))
    expect(keysIn(again)).toEqual(keysIn(kv))
    expect(logFiles(copy)).toEqual(logFiles(dir))
  }
}, 60_000)

it('blockchain/segments: rows leave the table ends first, and each step leaves every search complete', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const before = read(kv, logsIn)
  const deleted: string[] = []
  const steps: Kv = {
    ...kv,
    write: (run) => {
      const had = keysIn(kv)
      const result = kv.write(run)
      const left = new Set(keysIn(kv))
      deleted.push(...had.filter((key) => !left.has(key)))
      expect(read(kv, logsIn)).toEqual(before)
      return result
    },
  }
  let [nowMs, looks] = [0, 0]
  const { run, clock, mover } = moverOn(dir, steps)
  await using _mover = mover
  // each look at the time takes long, so that a step deletes few rows
  Object.assign(clock, { elapsedMs: () => (nowMs += ++looks % 3 === 0 ? 20 : 0) })
  for (let times = 0; times < 200 && rangesIn(kv).length < 3; times++) await run()
  for (let times = 0; times < 30; times++) await run()
  const ofFirst = deleted.filter((key) => Number.parseInt(key.slice(4, 20), 16) < 8)
  const lastEnds = ofFirst.findLastIndex((key) => key.startsWith('0x01'))
  expect(lastEnds).toBe(1)
  expect(ofFirst.length).toBeGreaterThan(2)
})

it.each([
  ['a truncated file', (path: string) => truncateSync(path, 300)],
  ['a missing file', (path: string) => unlinkSync(path)],
  [
    'a flipped byte in a frame',
    (path: string) => {
      const bytes = readFileSync(path)
      bytes[160] = (bytes[160] ?? 0) ^ 4
      writeFileSync(path, bytes)
    },
  ],
])(
  'blockchain/segments: a search over %s of the log index is a fault with its path (SEGMENT_DAMAGED); later blocks are searched',
  async (_what, damage) => {
    const dir = newDir()
    {
      await using kv = indexedStore(dir)
      await moveAll(dir, kv)
    }
    const path = fileOf(dir, 'logIndex', 8)
    await using source = openForeignChainReader(dir)
    damage(path)
    using reader = source.snapshot()
    expect(() => logsIn(reader)).toThrow(expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining(path) }))
    expect(logsIn(reader, 16)).toEqual(allLogs(16))
  },
)

it('blockchain/segments: the log index moves when the headers of its blocks are in a damaged file', async () => {
  const dir = newDir()
  await using kv = store(dir)
  // no segment is full, so only rows of blocks move
  await moveAll(dir, kv)
  truncateSync(fileOf(dir, 'headers', 10), 100)
  joinLogs(kv, 4)
  await moveAll(dir, kv)
  expect(rangesIn(kv)).toEqual([
    [0, 7],
    [8, 15],
    [16, 19],
    [20, 27],
  ])
  expect(read(kv, logsIn)).toEqual(allLogs())
})

it('blockchain/segments: a verification finds a row in a file of the log index that contradicts the receipts', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const [, record] = read(kv, (reader) => [...segmentsOf(reader, table)])
  if (record === undefined) expect.fail()
  using writer = new KeyedSegmentWriter({ dir: segmentsDir(dir), table, genesis: genesis.block.hash })
  read(kv, (reader) => {
    for (const kind of ['page', 'segment'] as const) {
      for (const { key, value } of reader.moved?.range(table, rowRange(kind, 8, 16)) ?? []) {
        if (kind === 'page') value[0] = (value[0] ?? 0) ^ 1
        writer.add(key, value)
      }
    }
  })
  const { first, last, firstHash, lastHash } = record
  const other = writer.finish({ number: first, hash: firstHash }, { number: last, hash: lastHash })
  kv.write((tx) => putSegment(tx, other))
  expect(differencesIn(kv)).toEqual([expect.objectContaining({ table: 'logIndex', expected: 'the index of the logs in the receipts' })])
})
