import { concatBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter, Row, RowReader } from '#store/ports'
import { tables } from '#store/tables'
import type { Log } from '#types/log'

/*
 * Rows of the log index. A value (an address, or a topic at its position) has an entry for each transaction whose logs contain it.
 *   block row    0x02 ++ number u64 → transactions u32, then entries, for the newest blocks; or transactions u32, then the bits of a slice u8
 *   slice        0x02 ++ number u64 ++ index u8 → the entries of the block whose digests have the index as their upper bits
 *   page         0x00 ++ first block of the segment u64 ++ last entry → entries, in the order of the segment
 *   segment      0x01 ++ last block u64 → first block u64, then for each block the number of transactions up to its end u32
 *   entry        digest of the value u32 ++ transaction u32: its index in the block, or its place in the segment; ascending
 */
const table: number = tables.logIndex.id
const kinds = { page: 0, segment: 1, block: 2 } as const
const entryBytes = 8
/** Entries of a page; two pages fit into one page of the store. */
const pageEntries = 248
/** Mean entries of a slice, so that most slices, as other rows of that size, take one page of the store. */
const sliceEntries = 400
const maxSliceBits = 8
/** Bytes of a block row whose entries are in slices. */
const slicedBytes = 5
/** Bound of places in a segment, so that an entry is an exact integer. */
const places = 2 ** 21

/** Entries in memory: digest × 2^21 + place. */
export type Entries = Float64Array

export const entryOf = (digest: number, place: number): number => digest * places + place
export const placeOf = (entry: number): number => entry % places
const digestOf = (entry: number): number => Math.floor(entry / places)

/** Position of a filter's value: 0 is the address, then the topics. */
export type LogPosition = 0 | 1 | 2 | 3 | 4

/** Returns the digest of a value. Collisions are harmless: a search compares the logs themselves. */
export function digestAt(position: LogPosition, hex: string): number {
  let digest = 0x811c9dc5 ^ position
  for (let i = 2; i < hex.length; i++) digest = Math.imul(digest ^ hex.charCodeAt(i), 0x01000193)
  digest = Math.imul(digest ^ (digest >>> 16), 0x85ebca6b)
  digest = Math.imul(digest ^ (digest >>> 13), 0xc2b2ae35)
  return (digest ^ (digest >>> 16)) >>> 0
}

/** Returns the entries of one block, ascending, without duplicates. @param logs by transaction */
export function entriesOf(logs: readonly (readonly Log[])[]): Entries {
  const found = new Set<number>()
  for (const [index, list] of logs.entries()) {
    for (const { address, topics } of list) {
      found.add(entryOf(digestAt(0, address), index))
      for (const [at, topic] of topics.entries()) found.add(entryOf(digestAt((at + 1) as LogPosition, topic), index))
    }
  }
  return Float64Array.from(found).sort()
}

const tableKey = (kind: number, ...parts: readonly Uint8Array[]): Uint8Array => concatBytes(Uint8Array.of(kind), ...parts)

function packed(entries: Entries, head: number): Uint8Array {
  const bytes = new Uint8Array(head + entries.length * entryBytes)
  const view = new DataView(bytes.buffer)
  for (const [i, entry] of entries.entries()) {
    view.setUint32(head + i * entryBytes, digestOf(entry))
    view.setUint32(head + i * entryBytes + 4, placeOf(entry))
  }
  return bytes
}

function unpacked(bytes: Uint8Array, head: number): Entries {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const entries = new Float64Array((bytes.length - head) / entryBytes)
  for (let i = 0; i < entries.length; i++) {
    const at = head + i * entryBytes
    entries[i] = entryOf(view.getUint32(at), view.getUint32(at + 4))
  }
  return entries
}

/** Index of one block with a row of its own. */
export type IndexedBlock = { readonly transactions: number; readonly entries: Entries }

const blockKey = (number: number): Uint8Array => tableKey(kinds.block, u64Bytes(number))
const sliceKey = (number: number, slice: number): Uint8Array => tableKey(kinds.block, u64Bytes(number), Uint8Array.of(slice))
const sliceOf = (digest: number, bits: number): number => digest >>> (32 - bits)

function sliceBitsFor(entries: number): number {
  let bits = 0
  while (bits < maxSliceBits && entries > sliceEntries << bits) bits++
  return bits
}

/**
 * Returns the rows of one block, in the order of their keys.
 * @param bits of a slice; 0: no slices, as schema 11 wrote blocks of any size
 */
export function blockRows(number: number, { transactions, entries }: IndexedBlock, bits = sliceBitsFor(entries.length)): readonly Row[] {
  const row = bits === 0 ? packed(entries, 4) : new Uint8Array(slicedBytes).fill(bits, 4)
  new DataView(row.buffer).setUint32(0, transactions)
  const rows = [{ key: blockKey(number), value: row }]
  if (bits === 0) return rows
  for (let slice = 0, from = 0; slice < 1 << bits; slice++) {
    let to = from
    while (to < entries.length && sliceOf(digestOf(entries[to] as number), bits) === slice) to++
    rows.push({ key: sliceKey(number, slice), value: packed(entries.subarray(from, to), 0) })
    from = to
  }
  return rows
}

export function putBlock(tx: KvWriter, number: number, block: IndexedBlock): void {
  for (const { key, value } of blockRows(number, block)) tx.put(table, key, value)
}

/** Row of a block with rows of its own. `bits`: of a slice; 0: the row has all entries. */
export type OpenBlock = { readonly number: number; readonly row: Uint8Array; readonly bits: number }

/** @throws RangeError for a row that no version has written */
export function openBlock(reader: KvReader, number: number): OpenBlock | undefined {
  const row = reader.get(table, blockKey(number))
  if (row === undefined) return undefined
  const bits = row.length === slicedBytes ? (row[4] as number) : 0
  if (bits > maxSliceBits) throw new RangeError(`log index: block ${number} has slices of ${bits} bits`)
  return { number, row, bits }
}

/** @throws RangeError for a slice that is missing */
function lookAtSlice<T>(reader: KvReader, number: number, slice: number, use: (entries: Uint8Array) => T): T {
  const found = reader.look(table, sliceKey(number, slice), (entries) => ({ result: use(entries) }))
  if (found === undefined) throw new RangeError(`log index: slice ${slice} of block ${number} is missing`)
  return found.result
}

/** @throws RangeError for rows that no version has written */
export function readBlock(reader: KvReader, number: number): IndexedBlock | undefined {
  const block = openBlock(reader, number)
  if (block === undefined) return undefined
  const { row, bits } = block
  const transactions = u32At(row, 0)
  if (bits === 0) return { transactions, entries: unpacked(row, 4) }
  const slices = Array.from({ length: 1 << bits }, (_, slice) => lookAtSlice(reader, number, slice, (entries) => entries.slice()))
  return { transactions, entries: unpacked(concatBytes(...slices), 0) }
}

export function deleteBlock(tx: KvWriter, number: number): void {
  for (const key of [...tx.keys(table, rowRange('block', number, number + 1))]) tx.delete(table, key)
}

/** Range of consecutive blocks that share their pages. */
export type BlockRange = { readonly first: number; readonly last: number }

/** Such a range with its rows: those of the table, or of segment files. */
export type Segment = BlockRange & { readonly rows: RowReader }

/** For each block of a segment, the number of transactions up to its end, as stored. */
export class BlockEnds {
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** @param transactions of each block */
  static of(transactions: readonly number[]): BlockEnds {
    const ends = new BlockEnds(new Uint8Array(4 * transactions.length))
    let end = 0
    for (const [i, count] of transactions.entries()) {
      end += count
      ends.#view.setUint32(4 * i, end)
    }
    return ends
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset, this.#view.byteLength)
  }

  get count(): number {
    return this.#view.byteLength / 4
  }

  /** Returns 0 before the first block. */
  at(block: number): number {
    return block < 0 ? 0 : this.#view.getUint32(4 * block)
  }

  /** Returns the block of the transaction at a place. */
  blockOf(place: number): number {
    let [from, to] = [0, this.count - 1]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.at(middle) > place) to = middle
      else from = middle + 1
    }
    return from
  }
}

/**
 * Iterates over consecutive segments from the one that contains a block; none when no segment contains it. Reads no file for a segment in the table: when a
 * segment moves to a file, its ends leave the table before its pages.
 * @param before no segment has this block or later ones
 */
export function* segmentsFrom(reader: KvReader, number: number, before: number): Generator<Segment> {
  const sources = reader.moved ? [reader, reader.moved] : [reader]
  for (let next = number, isFound = true; isFound; ) {
    isFound = false
    for (const rows of sources) {
      if (next >= before) return
      for (const segment of segmentsIn(rows, next)) {
        yield segment
        next = segment.last + 1
        isFound = true
        if (next >= before) return
      }
    }
  }
}

/** Does the same in one place. */
export function* segmentsIn(rows: RowReader, number: number): Generator<Segment> {
  let next = number
  for (const { key, value } of rows.range(table, rowRange('segment', number))) {
    const segment = segmentOf(rows, key, value)
    if (segment.first > next) return
    yield segment
    next = segment.last + 1
  }
}

/** Returns the lowest segment in a place that ends at or after a block. */
export function lowestSegment(rows: RowReader, number: number): Segment | undefined {
  for (const { key, value } of rows.range(table, { ...rowRange('segment', number), limit: 1 })) return segmentOf(rows, key, value)
  return undefined
}

const segmentOf = (rows: RowReader, key: Uint8Array, ends: Uint8Array): Segment => ({
  first: u64FromBytes(ends),
  last: u64FromBytes(key.subarray(1)),
  rows,
})

/** Returns the block number in a row's key: the first block of the segment for a page, the last block for other rows. */
export const numberInKey = (key: Uint8Array): number => u64FromBytes(key.subarray(1, 9))

/** Calls a function with the block ends of a segment, valid during the call. */
export function lookAtEnds<T>({ last, rows }: Segment, use: (ends: BlockEnds) => T): T | undefined {
  return rows.look(table, tableKey(kinds.segment, u64Bytes(last)), (row) => use(new BlockEnds(row.subarray(8))))
}

const entryKey = (entry: number): Uint8Array => packed(Float64Array.of(entry), 0)
const pageKey = (first: number, entry: Uint8Array): Uint8Array => tableKey(kinds.page, u64Bytes(first), entry)

/** Iterates over the rows of a segment: its pages, ascending, then its ends. */
export function* segmentRows({ first, ends, entries }: JoinedBlocks): Generator<Row> {
  for (let from = 0; from < entries.length; from += pageEntries) {
    const page = packed(entries.subarray(from, from + pageEntries), 0)
    yield { key: pageKey(first, page.subarray(-entryBytes)), value: page }
  }
  yield { key: tableKey(kinds.segment, u64Bytes(first + ends.count - 1)), value: concatBytes(u64Bytes(first), ends.bytes) }
}

/** Range of the keys of a kind from a block on, up to before another block, or to the end of the kind. */
export const rowRange = (
  kind: keyof typeof kinds,
  from: number,
  before?: number,
): { readonly from: Uint8Array; readonly to: Uint8Array } => ({
  from: tableKey(kinds[kind], u64Bytes(from)),
  to: before === undefined ? Uint8Array.of(kinds[kind] + 1) : tableKey(kinds[kind], u64Bytes(before)),
})

/** Blocks of a segment in memory: their entries, ascending, by place in the segment. */
export type JoinedBlocks = { readonly first: number; readonly ends: BlockEnds; readonly entries: Entries }

/** Reads a whole segment; undefined without its block ends. */
export function readSegment(segment: Segment): JoinedBlocks | undefined {
  const { first, rows } = segment
  const ends = lookAtEnds(segment, ({ bytes }) => new BlockEnds(bytes.slice()))
  const pages = [...rows.range(table, rowRange('page', first, first + 1))].map(({ value }) => unpacked(value, 0))
  const entries = new Float64Array(pages.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const page of pages) {
    entries.set(page, at)
    at += page.length
  }
  return ends && { first, ends, entries }
}

/** Joins consecutive segments. The sum of their transactions is below 2^21. */
export function joinSegments(segments: readonly JoinedBlocks[]): JoinedBlocks {
  const counts: number[] = []
  const entries = new Float64Array(segments.reduce((sum, each) => sum + each.entries.length, 0))
  let [at, before] = [0, 0]
  for (const { ends, entries: own } of segments) {
    for (const entry of own) entries[at++] = entry + before
    for (let block = 0; block < ends.count; block++) counts.push(ends.at(block) - ends.at(block - 1))
    before += ends.at(ends.count - 1)
  }
  return { first: segments[0]?.first ?? 0, ends: BlockEnds.of(counts), entries: entries.sort() }
}

/** Removes a segment from the table. */
export function deleteSegmentRows(tx: KvWriter, { first, last }: BlockRange): void {
  for (const key of [...tx.keys(table, rowRange('page', first, first + 1))]) tx.delete(table, key)
  tx.delete(table, tableKey(kinds.segment, u64Bytes(last)))
}

/** Places from `from` up to before `to`. */
export type PlaceRange = { readonly from: number; readonly to: number }
export const allPlaces: PlaceRange = { from: 0, to: places }

/** Adds the places of a value in a range to a list. @returns whether the entries end with such a place, so that the next page may continue it */
function addPlaces(bytes: Uint8Array, head: number, digest: number, into: number[], within = allPlaces): boolean {
  const count = (bytes.length - head) / entryBytes
  const isBefore = (at: number): boolean => {
    const found = u32At(bytes, at)
    return found < digest || (found === digest && u32At(bytes, at + 4) < within.from)
  }
  let [from, to] = [0, count]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isBefore(head + middle * entryBytes)) from = middle + 1
    else to = middle
  }
  for (let i = from; i < count; i++) {
    const at = head + i * entryBytes
    const place = u32At(bytes, at + 4)
    if (u32At(bytes, at) !== digest || place >= within.to) return false
    into.push(place)
  }
  return true
}

/** Adds the places of a value in a single block to a list, ascending. @returns slices read */
export function addBlockPlaces(reader: KvReader, { number, row, bits }: OpenBlock, digest: number, into: number[]): number {
  if (bits === 0) {
    addPlaces(row, 4, digest, into)
    return 0
  }
  lookAtSlice(reader, number, sliceOf(digest, bits), (entries) => addPlaces(entries, 0, digest, into))
  return 1
}

/** A value in at least one of this many transactions is too common to be worth reading. */
const commonEvery = 4

/**
 * Adds the places of a value in a part of a segment to a list, ascending.
 * @param onCommon 'stop': stop when the value is found to be common
 * @returns pages read; 'common': stopped
 */
export function addSegmentPlaces(
  { first, rows }: Segment,
  digest: number,
  into: number[],
  onCommon: 'continue' | 'stop',
  within: PlaceRange,
): number | 'common' {
  let pages = 0
  const begin = into.length
  const range = { from: pageKey(first, entryKey(entryOf(digest, within.from))), to: tableKey(kinds.page, u64Bytes(first + 1)) }
  for (const { value: page } of rows.range(table, range)) {
    pages++
    if (!addPlaces(page, 0, digest, into, within)) break
    const [found, span] = [into.length - begin, (into.at(-1) ?? 0) - (into[begin] ?? 0)]
    if (onCommon === 'stop' && found >= pageEntries / 2 && span <= found * commonEvery) return 'common'
  }
  return pages
}

/** Returns keys of pages and segments in the table, of blocks before the first block of a segment. @param most number of keys */
export function keysBefore(reader: KvReader, first: number, most: number): Uint8Array[] {
  const limit = most
  const pages = reader.keys(table, { from: Uint8Array.of(kinds.page), to: tableKey(kinds.page, u64Bytes(first)), limit })
  const segments = reader.keys(table, { from: Uint8Array.of(kinds.segment), to: tableKey(kinds.segment, u64Bytes(first)), limit })
  return [...pages, ...segments].slice(0, most)
}
