import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import type { Hash } from '#types/ids'
import { tables } from '../tables.ts'
import { recordOf } from './segmentFiles.ts'
import { decodeHead, encodeHead, headBytes } from './segmentFormat.ts'
import { type SegmentRecord, segmentFileName } from './segmentRecords.ts'
import { SegmentWriter } from './segmentWriter.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-foreign-segment-'))
afterAll(() => rmSync(dir, { recursive: true }))

const genesis = `0x${'ab'.repeat(32)}` as Hash
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash

/** Writes a file of six rows in three frames. */
function write(): SegmentRecord {
  using writer = new SegmentWriter({ dir, table: tables.bodies.id, genesis })
  for (const [at, size] of [9_000, 9_000, 20_000, 5, 7_000, 10_000].entries())
    writer.add({ number: 3 + at, hash: hashOf(3 + at) }, new Uint8Array(size).fill(at + 1))
  return writer.finish()
}

/** Returns the path of a copy of a file with another index, whose checksum is right. */
function withIndex(record: SegmentRecord, change: (index: DataView) => void): string {
  const bytes = new Uint8Array(readFileSync(join(dir, segmentFileName(record))))
  const head = decodeHead(bytes)
  if (typeof head === 'string') throw new Error(head)
  const index = bytes.slice(head.indexAt)
  change(new DataView(index.buffer))
  const path = join(dir, 'changed.seg')
  writeFileSync(path, concatBytes(encodeHead(head, index), bytes.subarray(headBytes, head.indexAt), index))
  return path
}

it('store/segments: a file of another node has the record that its writer returned', () => {
  const record = write()
  expect(recordOf(join(dir, segmentFileName(record)), genesis, record)).toEqual(record)
  expect(() => recordOf(join(dir, segmentFileName(record)), hashOf(1), record)).toThrow(
    expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining('it is of the chain with genesis') }),
  )
  expect(() => recordOf(join(dir, segmentFileName(record)), genesis, { ...record, last: 7 })).toThrow(
    expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining('it has other blocks') }),
  )
})

// three frames: ends of rows and in the file, then the ends of six rows, four bytes each
const [firstFrame, lastFrame, firstRow, lastRow] = [0, 16, 24, 44]
it.each<[string, (index: DataView, record: SegmentRecord) => Partial<SegmentRecord>]>([
  ['a row of gigabytes', (index) => setBoth(index, 0xffff_fff0)],
  ['a frame with more rows', (index) => set(index, firstFrame, 38_005)],
  ['rows that descend', (index) => set(index, firstRow, 18_001)],
  ['an empty row', (index) => set(index, firstRow + 4, 9_000)],
  ['a frame that ends inside a row', (index) => set(index, firstFrame, 17_000)],
  ['frames that descend', (index) => set(index, firstFrame, 40_000)],
  ['frames that descend in the file', (index) => set(index, firstFrame + 4, index.getUint32(lastFrame + 4) + 1)],
  ['a frame that ends after the frames', (index) => set(index, lastFrame + 4, index.getUint32(lastFrame + 4) + 1)],
  ['a frame that begins in the head', (index) => set(index, firstFrame + 4, headBytes)],
  ['a size of the rows that is not theirs', (_index, { rowBytes }) => ({ rowBytes: rowBytes + 1 })],
])('store/segments: a file of another node with %s is refused (SEGMENT_DAMAGED)', (_what, change) => {
  const record = write()
  let sizes: Partial<SegmentRecord> = {}
  const path = withIndex(record, (index) => {
    sizes = change(index, record)
  })
  expect(() => recordOf(path, genesis, { ...record, ...sizes })).toThrow(
    expect.objectContaining({ code: 'SEGMENT_DAMAGED', message: expect.stringContaining('its index is damaged') }),
  )
})

function set(index: DataView, at: number, value: number): Partial<SegmentRecord> {
  index.setUint32(at, value)
  return {}
}

/** Lets the last frame and the last row end at an offset, as the size of the rows says. */
function setBoth(index: DataView, rowBytes: number): Partial<SegmentRecord> {
  index.setUint32(lastFrame, rowBytes)
  index.setUint32(lastRow, rowBytes)
  return { rowBytes }
}
