import { basename } from 'node:path'
import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import { hashFromBytes } from '#types/ids'
import type { KvReader, KvWriter } from '../ports.ts'
import { type TableSpec, tables } from '../tables.ts'
import type { SegmentRange } from './segmentFormat.ts'

/** Tables with a row for each block, which moves to a segment file when the block is finalized. */
export const blockTables: readonly TableSpec[] = [tables.headers, tables.bodies, tables.receipts]
/** Tables with segment files. */
export const segmentTables: readonly TableSpec[] = [...blockTables, tables.logIndex]

/** A segment file as the store records it. */
export type SegmentRecord = SegmentRange & {
  /** SHA-256 of the file in hex, without 0x */
  readonly digest: string
  readonly fileBytes: number
  /** size of its rows, uncompressed */
  readonly rowBytes: number
}

/** Returns the name of one of `segmentTables`. */
const nameOf = (table: number): string => segmentTables.find(({ id }) => id === table)?.name ?? String(table)

/** Returns the name of the file of a segment. */
export const segmentFileName = ({ table, first, digest }: Pick<SegmentRecord, 'table' | 'first' | 'digest'>): string =>
  `${nameOf(table)}-${String(first).padStart(12, '0')}-${digest}.seg`

/** Returns whether a file has a name as `segmentFileName` returns it. */
export const isSegmentFileName = (name: string): boolean => /^[a-zA-Z]+-\d{12,}-[0-9a-f]{64}\.seg$/.test(name)

const keyOf = (table: number, number: number): Uint8Array => concatBytes(Uint8Array.of(table), u64Bytes(number))

export function putSegment(tx: KvWriter, { table, first, last, firstHash, lastHash, digest, fileBytes, rowBytes }: SegmentRecord): void {
  const hashes = [fromHex(firstHash), fromHex(lastHash), fromHex(`0x${digest}`)]
  tx.put(tables.segments.id, keyOf(table, first), concatBytes(u64Bytes(last), ...hashes, u64Bytes(fileBytes), u64Bytes(rowBytes)))
}

export function deleteSegment(tx: KvWriter, { table, first }: Pick<SegmentRecord, 'table' | 'first'>): void {
  tx.delete(tables.segments.id, keyOf(table, first))
}

/** Decodes a row of the table of records. */
export function decodeRecord(key: Uint8Array, value: Uint8Array): SegmentRecord {
  const hash = (at: number): Uint8Array => value.subarray(at, at + 32)
  return {
    table: key[0] ?? 0,
    first: u64FromBytes(key.subarray(1)),
    last: u64FromBytes(value.subarray(0, 8)),
    firstHash: hashFromBytes(hash(8)),
    lastHash: hashFromBytes(hash(40)),
    digest: toHex(hash(72)).slice(2),
    fileBytes: u64FromBytes(value.subarray(104, 112)),
    rowBytes: u64FromBytes(value.subarray(112, 120)),
  }
}

/** Returns the segment of a table that has a block; undefined: there is none. */
export function segmentWith(reader: KvReader, table: number, number: number): SegmentRecord | undefined {
  const range = { from: keyOf(table, 0), to: keyOf(table, number + 1), reverse: true, limit: 1 }
  for (const { key, value } of reader.range(tables.segments.id, range)) {
    const record = decodeRecord(key, value)
    return record.last >= number ? record : undefined
  }
  return undefined
}

/** Returns the segment of a table that has a block, or the first one after it. */
export function segmentFrom(reader: KvReader, table: number, number: number): SegmentRecord | undefined {
  const found = segmentWith(reader, table, number)
  if (found) return found
  const range = { from: keyOf(table, number), to: Uint8Array.of(table + 1), limit: 1 }
  for (const { key, value } of reader.range(tables.segments.id, range)) return decodeRecord(key, value)
  return undefined
}

/** Returns whether a file is that of a segment with a block. */
export function isRecorded(reader: KvReader, number: number, path: string): boolean {
  return segmentTables.some(({ id }) => {
    const record = segmentWith(reader, id, number)
    return record !== undefined && basename(path) === segmentFileName(record)
  })
}

/** Iterates over the segments of a table, oldest first. */
export function* segmentsOf(reader: KvReader, table: number): Generator<SegmentRecord> {
  const range = { from: keyOf(table, 0), to: Uint8Array.of(table + 1) }
  for (const { key, value } of reader.range(tables.segments.id, range)) yield decodeRecord(key, value)
}

const encoder = new TextEncoder()
const movedKey = encoder.encode('segments.moved')
const prunedKey = (table: number): Uint8Array => encoder.encode(`pruned.${nameOf(table)}`)

const readMark = (reader: KvReader, key: Uint8Array): number => reader.look(tables.meta.id, key, u64FromBytes) ?? 0

/** Returns the number of the first block that was not moved to segments. Rows of earlier blocks may wait for their deletion. */
export const readMoved = (reader: KvReader): number => readMark(reader, movedKey)

export function writeMoved(tx: KvWriter, number: number): void {
  tx.put(tables.meta.id, movedKey, u64Bytes(number))
}

/** Returns the number of the first block whose row in one of `blockTables` is retained. */
export const readPruned = (reader: KvReader, table: number): number => readMark(reader, prunedKey(table))

export function writePruned(tx: KvWriter, table: number, number: number): void {
  tx.put(tables.meta.id, prunedKey(table), u64Bytes(number))
}

/** Returns the result of a read; undefined when a segment file that it reads is damaged. */
export function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isFault(error, 'SEGMENT_DAMAGED')) return undefined
    throw error
  }
}
