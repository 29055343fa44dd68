import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { putSegment, segmentsOf, writeMoved } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { headerOf } from '#test/harness/chain/headers'
import { expectSame, randomBlocks, write } from '#test/harness/store/searchedLogs'
import { encodeHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { blockKey } from '../chainRows.ts'
import { putGenesisId, putHeads } from '../chainStore.ts'
import { fillLogIndex, readIndexMark, unindexLogs } from '../logIndex/logIndex.ts'
import { buildSegments } from './buildSegments.ts'
import { nextSegments, type SegmentBounds } from './segmentCut.ts'
import { waitingRows } from './waitingRows.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-moved-search-'))
let dirs = 0
afterAll(() => rmSync(base, { recursive: true }))

const count = 5_000
/** Windows of 2,000 blocks. */
const usual: SegmentBounds = { blocks: 3_000, rowBytes: 2 ** 24, windowSec: 4_000 }
const idOf = (number: number) => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash })

/** Opens a store with rows of finalized blocks, without logs. */
function finalizedStore(dir: string): Kv {
  const kv = openChainKv(dir)
  kv.write((tx) => {
    for (let number = 0; number < count; number++) {
      const id = idOf(number)
      tx.put(tables.canonical.id, u64Bytes(number), fromHex(id.hash))
      tx.put(tables.headers.id, blockKey(id), encodeHeader(headerOf({ number, timestamp: 2 * number })))
      for (const { id: table } of [tables.bodies, tables.receipts]) tx.put(table, blockKey(id), Uint8Array.of(1))
    }
    putGenesisId(tx, idOf(0))
    const head = idOf(count - 1)
    putHeads(tx, { unsafe: head, safe: head, finalized: head }, 1)
  })
  return kv
}

function read<T>(kv: Kv, use: (reader: KvReader) => T): T {
  using reader = kv.snapshot()
  return use(reader)
}

/** Does what the mover does next. @returns what it was; undefined when there is nothing to do */
function step(kv: Kv, dir: string, bounds: SegmentBounds, rows: number): 'deleted' | 'recorded' | undefined {
  const waiting = read(kv, (reader) =>
    waitingRows(reader, { rowsIn: (table) => (table === tables.logIndex.id ? rows : 5_000), hasTime: () => true }),
  )
  if (waiting) {
    kv.write((tx) => {
      for (const key of waiting.keys) tx.delete(waiting.table, key)
    })
    return 'deleted'
  }
  const next = read(kv, (reader) => nextSegments(reader, bounds))
  const built = next && buildSegments(kv, { ...next, dir: segmentsDir(dir), bounds })
  if (built === undefined) return undefined
  kv.write((tx) => {
    for (const record of built.records) putSegment(tx, record)
    if (built.of === 'blocks') writeMoved(tx, built.last + 1)
  })
  return 'recorded'
}

const filesIn = (kv: Kv): number[][] =>
  read(kv, (reader) => [...segmentsOf(reader, tables.logIndex.id)].map(({ first, last }) => [first, last]))

it.each([
  ['as they are in the table', { ...usual, entries: 1 }],
  ['joined up to a bound', { ...usual, entries: 12_000 }],
  ['joined to one in a file', usual],
])(
  'blockchain/segments: finds the transactions that a search of all logs finds, with segments %s, after each step of a move',
  (_how, bounds) => {
    const dir = join(base, String(dirs++))
    const kv = finalizedStore(dir)
    const blocks = randomBlocks(11, count)
    write(kv, blocks)
    expectSame(kv, blocks)
    let steps = 0
    for (let done = step(kv, dir, bounds, 2); done; done = step(kv, dir, bounds, 2)) {
      if (filesIn(kv).length > 0 && (done === 'recorded' || steps++ % 3 === 0)) expectSame(kv, blocks)
    }
    expect(steps).toBeGreaterThan(15)
    expect(filesIn(kv)).toEqual([
      [0, 1_023],
      [1_024, 3_071],
    ])
    expectSame(kv, blocks)
    kv.write((tx) => {
      for (let number = count - 1; number >= 3_500; number--) unindexLogs(tx, number)
    })
    expect(() => kv.write((tx) => unindexLogs({ ...tx, get: tx.get.bind(tx), range: tx.range.bind(tx) } as typeof tx, 3_000))).toThrow(
      RangeError,
    )
    const others = [...blocks.slice(0, 3_500), ...randomBlocks(12, 700)]
    write(kv, others, 3_500)
    expectSame(kv, others)
  },
)

it('blockchain/segments: older blocks that are indexed below a file move after it, also while its rows are still in the table', () => {
  const dir = join(base, String(dirs++))
  const kv = finalizedStore(dir)
  const blocks = randomBlocks(13, count)
  kv.write((tx) => tx.put(tables.meta.id, new TextEncoder().encode('logs.pruned'), u64Bytes(500)))
  write(kv, blocks, 500)
  while (filesIn(kv).length === 0) expect(step(kv, dir, usual, 200)).toBeOneOf(['deleted', 'recorded'])
  expect(filesIn(kv)).toEqual([[500, 1_523]])
  // the rows of the file are still in the table
  kv.write((tx) => {
    tx.delete(tables.meta.id, new TextEncoder().encode('logs.pruned'))
    fillLogIndex(
      tx,
      (number) => blocks[number],
      () => true,
    )
  })
  expect(read(kv, readIndexMark)?.from).toBe(0)
  expectSame(kv, blocks)
  for (let done = step(kv, dir, usual, 7); done; done = step(kv, dir, usual, 7)) if (done === 'recorded') expectSame(kv, blocks)
  expect(filesIn(kv)).toEqual([
    [0, 499],
    [500, 1_523],
    [1_524, 3_571],
  ])
  expectSame(kv, blocks)
})
