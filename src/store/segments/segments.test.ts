import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { createManualClock } from '#test/harness/clock'
import { fileDamages, unnoticedFlips } from '#test/harness/store/damagedSegment'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { openChainKv, openChainReader, segmentsDir } from '../chainTables.ts'
import { openLmdbKv } from '../lmdbKv.ts'
import { agreeOnSchema, chainSchema } from '../schema.ts'
import { tables } from '../tables.ts'
import { digestOf } from './frameWriter.ts'
import { SegmentFiles } from './segmentFiles.ts'
import { decodeHead, headBytes } from './segmentFormat.ts'
import { deleteSegment, putSegment, type SegmentRecord, segmentFileName, segmentsOf, segmentWith, writeMoved } from './segmentRecords.ts'
import { SegmentWriter } from './segmentWriter.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-segments-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

const genesis = `0x${'ab'.repeat(32)}` as Hash
const idOf = (number: number): BlockId => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash })
const keyOf = ({ number, hash }: BlockId): Uint8Array => concatBytes(u64Bytes(number), fromHex(hash))
const table = tables.bodies.id

function write(dir: string, first: number, rows: readonly Uint8Array[]): SegmentRecord {
  using writer = new SegmentWriter({ dir, table, genesis })
  for (const [at, row] of rows.entries()) writer.add(idOf(first + at), row)
  return writer.finish()
}

const rowsOf = (sizes: readonly number[]): Uint8Array[] =>
  sizes.map((size, at) => Uint8Array.from({ length: size }, (_, i) => (i % 7 < 3 ? at : (i * 31 + at) & 0xff)))

/** Returns the file of a descriptor; undefined when it was closed meanwhile. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const sample = rowsOf([4, 20_000, 300, 300, 70_000, 1, 16_384, 5])

it('store/segments: returns each row, whatever the sizes of the rows', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 10_000, max: 40_000 })), {
    minLength: 1,
    maxLength: 40,
  })
  fc.assert(
    fc.property(sizes, fc.nat(2 ** 40), (lengths, first) => {
      const dir = newDir()
      const rows = rowsOf(lengths)
      const record = write(dir, first, rows)
      using files = new SegmentFiles(dir, systemClock, { files: 2, frameBytes: 50_000 })
      for (const [at, row] of rows.entries()) expect(Buffer.compare(files.row(record, first + at), row)).toBe(0)
    }),
    { numRuns: 40 },
  )
})

it('store/segments: a file has its chain and its blocks in the head, its SHA-256 in the name, and standard zstd frames', () => {
  const dir = newDir()
  const record = write(dir, 7, sample)
  const [name = ''] = readdirSync(dir)
  const bytes = readFileSync(join(dir, name))
  const file = openSync(join(dir, name), 'r')
  expect(name).toBe(`bodies-000000000007-${digestOf(file, bytes.length)}.seg`)
  closeSync(file)
  expect(decodeHead(bytes)).toMatchObject({ table, genesis, first: 7, last: 14, firstHash: idOf(7).hash, lastHash: idOf(14).hash })
  const head = decodeHead(bytes)
  if (typeof head === 'string') expect.fail()
  expect(Buffer.compare(zstdDecompressSync(bytes.subarray(headBytes)), Buffer.concat(sample.slice(0, 2)))).toBe(0)
  expect(record.rowBytes).toBe(sample.reduce((sum, { length }) => sum + length, 0))
})

it('store/segments: the same rows make the same file', () => {
  expect(write(newDir(), 7, sample).digest).toBe(write(newDir(), 7, sample).digest)
})

it('store/segments: each flipped byte of a file is a fault with its path (SEGMENT_DAMAGED), or changes no row', () => {
  const dir = newDir()
  const rows = [...rowsOf([200]), new Uint8Array(17_000).fill(7), ...rowsOf([40])]
  const record = write(dir, 0, rows)
  const unnoticed = unnoticedFlips(join(dir, segmentFileName(record)), () => {
    using files = new SegmentFiles(dir, systemClock)
    if (rows.some((row, number) => Buffer.compare(files.row(record, number), row) !== 0)) expect.fail('another row')
  })
  // the head of each of the two zstd frames has an unused bit; only the SHA-256 covers it
  expect(unnoticed).toBeLessThanOrEqual(2)
})

it.each(fileDamages)('store/segments: a %s file is a fault with its path (SEGMENT_DAMAGED)', (_what, damage) => {
  const dir = newDir()
  const record = write(dir, 0, sample)
  const path = join(dir, segmentFileName(record))
  damage(path)
  using files = new SegmentFiles(dir, systemClock)
  expect(() => files.row(record, 0)).toThrow(expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining(path) }))
})

it('store/segments: a file of other blocks under the name of a record is a fault (SEGMENT_DAMAGED)', () => {
  const dir = newDir()
  const record = write(dir, 0, sample)
  const other = write(dir, 100, sample)
  writeFileSync(join(dir, segmentFileName(record)), readFileSync(join(dir, segmentFileName(other))))
  using files = new SegmentFiles(dir, systemClock)
  expect(() => files.row(record, 0)).toThrow(expect.objectContaining({ code: 'SEGMENT_DAMAGED' }))
})

it('store/segments: a writer that is disposed before the end leaves no file', () => {
  const dir = newDir()
  {
    using writer = new SegmentWriter({ dir, table, genesis })
    for (const [at, row] of sample.entries()) writer.add(idOf(at), row)
    expect(readdirSync(dir)).toHaveLength(1)
  }
  expect(readdirSync(dir)).toEqual([])
})

it('store/segmentedKv: reads rows from the tables or from a segment, on snapshots and in transactions, in any thread', async () => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  kv.write((tx) => {
    for (const [number, row] of sample.entries()) {
      tx.put(tables.canonical.id, u64Bytes(number), fromHex(idOf(number).hash))
      tx.put(table, keyOf(idOf(number)), row)
    }
  })
  await using source = openChainReader(dir)
  using before = kv.snapshot()
  const record = write(segmentsDir(dir), 0, sample.slice(0, 5))
  kv.write((tx) => {
    putSegment(tx, record)
    writeMoved(tx, 5)
  })
  kv.write((tx) => {
    for (let number = 0; number < 5; number++) tx.delete(table, keyOf(idOf(number)))
  })
  using after = source.snapshot()
  for (const [number, row] of sample.entries()) {
    const key = keyOf(idOf(number))
    for (const reader of [before, after]) {
      expect(reader.get(table, key)).toEqual(row)
      expect(reader.look(table, key, (value) => value.length)).toBe(row.length)
    }
    expect(kv.write((tx) => tx.get(table, key))).toEqual(row)
  }
  expect([...after.keys(table, {})]).toHaveLength(sample.length - 5)
  expect(after.get(table, keyOf({ number: 2, hash: genesis }))).toBeUndefined()
  expect(after.get(tables.receipts.id, keyOf(idOf(2)))).toBeUndefined()
})

/** Writes a segment with the first five rows of the sample, and records it. */
function recordFirst(kv: ReturnType<typeof openChainKv>, dir: string): ReturnType<typeof write> {
  const record = write(segmentsDir(dir), 0, sample.slice(0, 5))
  kv.write((tx) => {
    for (let number = 0; number < 5; number++) tx.put(tables.canonical.id, u64Bytes(number), fromHex(idOf(number).hash))
    putSegment(tx, record)
  })
  return record
}

it('store/segmentedKv: an old snapshot reads its rows after the file is gone; a later one has none', async () => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  const record = recordFirst(kv, dir)
  using before = kv.snapshot()
  expect(before.get(table, keyOf(idOf(1)))).toEqual(sample[1])
  kv.write((tx) => deleteSegment(tx, record))
  unlinkSync(join(segmentsDir(dir), segmentFileName(record)))
  expect(before.get(table, keyOf(idOf(2)))).toEqual(sample[2])
  using after = kv.snapshot()
  expect(after.get(table, keyOf(idOf(1)))).toBeUndefined()
})

it('store/segments: closes removed files after a minute, also when no other file is read, and looks for none while no file is open', async () => {
  const dir = newDir()
  const [removed, kept] = [write(dir, 0, sample), write(dir, 100, sample)]
  const clock = createManualClock()
  using files = new SegmentFiles(dir, clock)
  const isHeld = (record: SegmentRecord): boolean => {
    const path = join(dir, segmentFileName(record))
    return readdirSync('/proc/self/fd').some((fd) => linkOf(`/proc/self/fd/${fd}`)?.startsWith(path))
  }
  for (const record of [removed, kept]) files.row(record, record.first)
  unlinkSync(join(dir, segmentFileName(removed)))
  await clock.advanceMs(59_999)
  expect([isHeld(removed), isHeld(kept)]).toEqual([true, true])
  await clock.advanceMs(1)
  expect([isHeld(removed), isHeld(kept)]).toEqual([false, true])
  unlinkSync(join(dir, segmentFileName(kept)))
  await clock.advanceMs(60_000)
  expect([isHeld(kept), clock.waiting]).toEqual([false, 0])
})

it('store/chainTables: a start removes files that no row records, and requires those of the rows (SEGMENT_DAMAGED)', async () => {
  const dir = newDir()
  const record = write(segmentsDir(dir), 0, sample)
  write(segmentsDir(dir), 100, sample)
  writeFileSync(join(segmentsDir(dir), '3.tmp'), 'part of a file')
  {
    await using kv = openChainKv(dir)
    expect(readdirSync(segmentsDir(dir))).toEqual([])
    write(segmentsDir(dir), 0, sample)
    kv.write((tx) => putSegment(tx, record))
  }
  write(segmentsDir(dir), 100, sample)
  {
    await using kv = openChainKv(dir)
    expect(readdirSync(segmentsDir(dir))).toEqual([segmentFileName(record)])
    using reader = kv.snapshot()
    expect([...segmentsOf(reader, table)]).toEqual([record])
    expect(segmentWith(reader, table, record.last)).toEqual(record)
    expect(segmentWith(reader, table, record.last + 1)).toBeUndefined()
    expect(segmentWith(reader, tables.receipts.id, 0)).toBeUndefined()
  }
  unlinkSync(join(segmentsDir(dir), segmentFileName(record)))
  expect(() => openChainKv(dir)).toThrow(
    expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining(segmentFileName(record)) }),
  )
})

it('store/chainTables: a directory of a newer version keeps its segment files (SCHEMA_NEWER)', async () => {
  const dir = newDir()
  const name = segmentFileName(write(segmentsDir(dir), 0, sample))
  {
    await using kv = openLmdbKv(dir, Object.values(tables))
    agreeOnSchema(kv, { ...chainSchema, version: chainSchema.version + 1 })
  }
  expect(() => openChainKv(dir)).toThrow(expect.objectContaining({ code: 'SCHEMA_NEWER' }))
  expect(readdirSync(segmentsDir(dir))).toEqual([name])
})

it('store/chainTables: a start leaves other folders and files beside the segment files', async () => {
  const dir = newDir()
  write(segmentsDir(dir), 0, sample)
  mkdirSync(join(segmentsDir(dir), 'lost+found'))
  for (const name of ['notes.txt', 'headers-1.seg', 'backup.tmp']) writeFileSync(join(segmentsDir(dir), name), name)
  await using kv = openChainKv(dir)
  using reader = kv.snapshot()
  expect([...segmentsOf(reader, table)]).toEqual([])
  expect(readdirSync(segmentsDir(dir)).sort()).toEqual(['backup.tmp', 'headers-1.seg', 'lost+found', 'notes.txt'])
})
