import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { openChainKv, openForeignChainReader, segmentsDir } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { putSegment, readMoved, segmentsOf } from '#store/segments/segmentRecords'
import { KeyedSegmentWriter } from '#store/segments/segmentWriter'
import { tables } from '#store/tables'
import { joinLogs } from '#test/harness/store/logRuns'
import { blocks, fileOf, genesis, killed, moverOn, seen, store } from '#test/harness/store/movingStore'
import type { Hash } from '#types/ids'
import { checkLogIndex } from '../check/logIndexCheck.ts'
import { commitBranch } from '../commit/commit.ts'
import { readIndexMark, readLogsPruned } from '../logIndex/logIndex.ts'
import { rowRange } from '../logIndex/logIndexRows.ts'
import { searchLogIndex } from '../logIndex/logSearch.ts'
import { buildSegments } from './buildSegments.ts'
import { type RowRetention, retainAllRows } from './rowPruner.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-log-mover-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

const table = tables.logIndex.id

/** Opens a store with segments of four blocks in its log index: blocks 0 to 39; block 40 is single. */
function indexedStore(dir: string): Kv {
  const kv = store(dir)
  joinLogs(kv, 4)
  return kv
}

function read<T>(kv: Pick<Kv, 'snapshot'>, use: (reader: KvReader) => T): T {
  using reader = kv.snapshot()
  return use(reader)
}

/** Returns the blocks with a topic, as `topic: number/transaction …`, for each topic of the chain. */
function logsIn(reader: KvReader, from = 0): string[] {
  return Array.from({ length: 7 }, (_, value) => {
    const topic = `0x${value.toString(16).padStart(64, '0')}` as Hash
    const found: string[] = []
    for (let number = from; number <= 40; ) {
      const search = searchLogIndex(reader, { addresses: [], topics: [[topic]] }, number, 40)
      if (search.kind !== 'found') expect.fail(`block ${number} is not indexed`)
      for (const place of search.places) found.push(`${place.number}/${place.transactions}`)
      number = search.next
    }
    return `${value}: ${found.join(' ')}`
  })
}

/** Returns the same by reading each receipt. */
const allLogs = (from = 0): string[] =>
  Array.from({ length: 7 }, (_, value) => {
    const found = blocks.flatMap(({ header: { number }, executed }) =>
      executed.flatMap(({ receipt }, index) =>
        number >= from && receipt.logs.some(({ topics }) => topics[0] !== undefined && BigInt(topics[0]) === BigInt(value))
          ? [`${number}/${index}`]
          : [],
      ),
    )
    return `${value}: ${found.join(' ')}`
  })

const logFiles = (dir: string): string[] =>
  readdirSync(segmentsDir(dir))
    .filter((name) => name.startsWith('logIndex-'))
    .sort()
const rangesIn = (kv: Kv): number[][] => read(kv, (reader) => [...segmentsOf(reader, table)].map(({ first, last }) => [first, last]))
const keysIn = (kv: Kv): string[] => read(kv, (reader) => [...reader.keys(table, {})].map((key) => toHex(key)))
const differencesIn = (kv: Kv): unknown[] => {
  const found: unknown[] = []
  const watch = { hasTime: () => true, onRow() {}, report: (difference: unknown) => void found.push(difference) }
  read(kv, (reader) => checkLogIndex(reader, undefined, 40, watch))
  return found
}

async function moveAll(dir: string, kv: Kv, rows: RowRetention = retainAllRows): Promise<void> {
  const { run, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 10; times++) await run()
}

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

it('blockchain/segments: a file of the log index has the rows of the table, in the order of the keys; the same rows make the same file', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const isMoved = (key: Uint8Array): boolean => key[0] !== 2 && Buffer.from(key).readBigUInt64BE(1) < 24n
  const rowsOf = (rows: Iterable<{ key: Uint8Array; value: Uint8Array }>): string[] =>
    [...rows].filter(({ key }) => isMoved(key)).map(({ key, value }) => `${toHex(key)} ${toHex(value)}`)
  const before = read(kv, (reader) => rowsOf(reader.range(table, {})))
  await moveAll(dir, kv)
  const moved = read(kv, (reader) =>
    [0, 1].flatMap((kind) =>
      rowsOf(reader.moved?.range(table, { from: Uint8Array.of(kind, 0, 0, 0, 0, 0, 0, 0, 0), to: Uint8Array.of(kind + 1) }) ?? []),
    ),
  )
  expect(moved).toEqual(before)
  const other = newDir()
  await using again = indexedStore(other)
  await moveAll(other, again)
  expect(logFiles(other)).toEqual(logFiles(dir))
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
  expect(differencesIn(kv)).toEqual([expect.objectContaining({ table: 'logIndex' }), expect.objectContaining({ table: 'logIndex' })])
})

it('blockchain/segments/rowPruner: removes files of the log index that are not retained, and segments in the table', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const rows: RowRetention = { bodies: 'all', receipts: 'all', logs: { blocks: 22 } }
  const { run, settle, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  // the file with block 18 stays whole
  expect(rangesIn(kv)).toEqual([[16, 23]])
  expect(read(kv, readLogsPruned)).toBe(16)
  expect(logFiles(dir)).toHaveLength(3)
  await settle()
  expect(logFiles(dir)).toHaveLength(1)
  expect(read(kv, (reader) => logsIn(reader, 16))).toEqual(allLogs(16))
  expect(differencesIn(kv)).toEqual([])
})

it('blockchain/segments/rowPruner: a retention below the files removes them all, then segments of the table', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const { run, settle, mover } = moverOn(dir, kv, { rows: { bodies: 'all', receipts: 'all', logs: { blocks: 8 } } })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  await settle()
  expect([rangesIn(kv), logFiles(dir), read(kv, readLogsPruned)]).toEqual([[], [], 32])
  expect(read(kv, (reader) => logsIn(reader, 32))).toEqual(allLogs(32))
  expect(keysIn(kv).every((key) => Number.parseInt(key.slice(4, 20), 16) >= 32)).toBe(true)
  expect(seen(kv)).toHaveLength(41)
})

it('blockchain/segments/rowPruner: a damaged file of the log index is removed like others', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  truncateSync(fileOf(dir, 'logIndex', 0), 100)
  truncateSync(fileOf(dir, 'logIndex', 16), 100)
  const { run, settle, mover } = moverOn(dir, kv, { rows: { bodies: 'all', receipts: 'all', logs: { blocks: 22 } } })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  await settle()
  expect(rangesIn(kv)).toEqual([[16, 23]])
})

it('blockchain/segments/rowPruner: a kill between any two effects of the retention of logs leaves each search complete from the oldest logs on', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const rows: RowRetention = { bodies: 'all', receipts: 'all', logs: { blocks: 8 } }
  const { run, mover } = moverOn(dir, kv, { rows, onEffect: () => void copies.push(killed(dir, newDir())) })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  expect(copies.length).toBeGreaterThan(6)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    const oldest = read(again, readLogsPruned)
    expect(read(again, (reader) => logsIn(reader, oldest))).toEqual(allLogs(oldest))
    expect(differencesIn(again)).toEqual([])
    await moveAll(copy, again, rows)
    expect(rangesIn(again)).toEqual([])
    expect(read(again, (reader) => logsIn(reader, 32))).toEqual(allLogs(32))
  }
}, 60_000)

it('blockchain/segments: retention that begins during a build of the log index ends the build without a file', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const request = { of: 'logs' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 29 }
  let looks = 0
  const built = buildSegments(kv, request, () => {
    if (++looks === 2)
      kv.write((tx) => tx.put(tables.meta.id, new TextEncoder().encode('logs.pruned'), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 4)))
    return false
  })
  expect([built, looks]).toEqual([undefined, 2])
  expect(existsSync(segmentsDir(dir)) ? readdirSync(segmentsDir(dir)) : []).toEqual([])
})
