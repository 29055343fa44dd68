import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { dice } from '#test/harness/dice'
import { fileDamages, unnoticedFlips } from '#test/harness/store/damagedSegment'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { tables } from '../tables.ts'
import { MovedRows } from './movedRows.ts'
import { SegmentFiles } from './segmentFiles.ts'
import { putSegment, type SegmentRecord, segmentFileName } from './segmentRecords.ts'
import { KeyedSegmentWriter } from './segmentWriter.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-keyed-segments-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

const table = tables.logIndex.id
const genesis = `0x${'ab'.repeat(32)}` as Hash
const idOf = (number: number): BlockId => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash })
const keyOf = (kind: number, number: number, ...rest: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(kind), u64Bytes(number), ...rest)

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

/** Rows of ten segments of ten blocks each, from a block on: many pages of some of them, none of others, and all their ends. */
function rowsFrom(first: number, below = dice(first)): Row[] {
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => below(256))
  const firsts = Array.from({ length: 10 }, (_, at) => first + 10 * at)
  const pages = firsts.flatMap((from) =>
    Array.from({ length: below(3) * below(12) }, (_, page) => ({
      key: keyOf(0, from, u64Bytes(5 * page + 1)),
      value: bytes(1 + below(1_984)),
    })),
  )
  return [...pages, ...firsts.map((from) => ({ key: keyOf(1, from + 9), value: bytes(8 + below(60)) }))]
}

function write(dir: string, first: number, rows: readonly Row[]): SegmentRecord {
  using writer = new KeyedSegmentWriter({ dir, table, genesis })
  for (const { key, value } of rows) writer.add(key, value)
  return writer.finish(idOf(first), idOf(first + 99))
}

const hexRows = (rows: Iterable<Row>): string[] =>
  [...rows].map(({ key, value }) => `${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`)

/** Rows with `from` ≤ key < `to`. */
const within = (rows: readonly Row[], from: Uint8Array, to: Uint8Array): Row[] =>
  rows.filter(({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0)

it('store/segments/keyedSegments: returns the rows of each range, and each row by its key, over files with a gap between them', () => {
  const dir = newDir()
  const kv = createMemoryKv()
  const firsts = [0, 100, 300]
  const rows = firsts.map((first) => rowsFrom(first))
  kv.write((tx) => {
    for (const [at, first] of firsts.entries()) putSegment(tx, write(dir, first, rows[at] ?? []))
  })
  const all = rows.flat()
  using files = new SegmentFiles(dir, systemClock, { files: 1, frameBytes: 50_000 })
  using reader = kv.snapshot()
  const moved = new MovedRows(reader, files)
  for (const { key, value } of all) expect(moved.look(table, key, (found) => Buffer.compare(found, value))).toBe(0)
  expect(moved.look(table, keyOf(1, 250), () => true)).toBeUndefined()
  expect(moved.look(table, keyOf(0, 10, u64Bytes(0)), () => true)).toBeUndefined()
  const below = dice(9)
  for (let times = 0; times < 300; times++) {
    const kind = below(2)
    const [from, to] = [keyOf(kind, below(420), u64Bytes(below(60))), below(4) === 0 ? Uint8Array.of(kind + 1) : keyOf(kind, below(420))]
    const expected = within(all, from, to)
    expect(hexRows(moved.range(table, { from, to }))).toEqual(hexRows(expected))
    expect([...moved.keys(table, { from, to, limit: 3 })].map(toHex)).toEqual(expected.slice(0, 3).map(({ key }) => toHex(key)))
  }
  for (const range of [{}, { from: keyOf(0, 0) }, { from: keyOf(0, 0), to: keyOf(0, 1), reverse: true }]) {
    expect(() => [...moved.keys(table, range)]).toThrow(RangeError)
  }
})

it('store/segments/keyedSegments: the same rows make the same file; rows are accepted in the order of their keys', () => {
  const rows = rowsFrom(0)
  expect(write(newDir(), 0, rows).digest).toBe(write(newDir(), 0, rows).digest)
  const dir = newDir()
  {
    using writer = new KeyedSegmentWriter({ dir, table, genesis })
    writer.add(keyOf(0, 5), new Uint8Array(20_000))
    expect(() => writer.add(keyOf(0, 5), Uint8Array.of(1))).toThrow(RangeError)
    expect(() => writer.add(keyOf(0, 6, new Uint8Array(9)), Uint8Array.of(1))).toThrow(RangeError)
    expect(readdirSync(dir)).toHaveLength(1)
  }
  expect(readdirSync(dir)).toEqual([])
})

it('store/segments/keyedSegments: each flipped byte of a file is a fault with its path (SEGMENT_DAMAGED), or changes no row', () => {
  const dir = newDir()
  const rows = [
    { key: keyOf(0, 0, u64Bytes(1)), value: new Uint8Array(17_000).fill(7) },
    { key: keyOf(0, 0, u64Bytes(2)), value: Uint8Array.from({ length: 200 }, (_, at) => at) },
    { key: keyOf(1, 99), value: u64Bytes(0) },
  ]
  const record = write(dir, 0, rows)
  const unnoticed = unnoticedFlips(join(dir, segmentFileName(record)), () => {
    using files = new SegmentFiles(dir, systemClock)
    expect(hexRows(files.rowsFrom(record, keyOf(0, 0)))).toEqual(hexRows(rows))
  })
  // the head of each of the two zstd frames has an unused bit; only the SHA-256 covers it
  expect(unnoticed).toBeLessThanOrEqual(2)
})

it.each(fileDamages)('store/segments/keyedSegments: a %s file is a fault with its path (SEGMENT_DAMAGED)', (_what, damage) => {
  const dir = newDir()
  const record = write(dir, 0, rowsFrom(0))
  const path = join(dir, segmentFileName(record))
  damage(path)
  using files = new SegmentFiles(dir, systemClock)
  expect(() => [...files.rowsFrom(record, keyOf(0, 0))]).toThrow(
    expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining(path) }),
  )
})
