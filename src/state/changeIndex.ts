import { concatBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { changeKey, changesTable, decodeBefore, historyIndexTable as table } from './rows.ts'

/*
 * Index of the blocks that changed accounts and slots. Nothing is written at a row's own place: the rows of a block are at places without order, and a
 * page for each would cost more than the rows themselves.
 *   run       0x40 + level ++ first block u64 ++ slice u32 → digest of the changed row u32 ++ block - first block u16, ascending
 *   deletion  0x60 ++ table id u8 ++ key ++ number u64 → nothing: the block deleted the row. A range of an old state finds its key here
 * A run of level n has 4^n blocks, from a multiple of 4^n on, and is divided by digest into 4^n slices of about the size of one block's run. It is merged
 * from four runs of the level below, in steps of 16 slices, one with each block from its own last block on. So the number of the last block tells
 * which slices exist. A read looks into few runs of each level; a digest that two rows share costs it one more read.
 */
const kinds = { run: 0x40, deletion: 0x60 } as const
const fanOut = 4
/** Runs of the highest level have 65,536 blocks. */
const levels = 8
const stepSlices = 16
const entryBytes = 6
const offsets = 2 ** 16
const nothing = new Uint8Array(0)
/** Above every block number. */
const lastNumber = new Uint8Array(8).fill(0xff)
/** Rows that are removed between two looks at the time. */
const rowsAtOnce = 64

/** Number of blocks of a run, and of its slices. */
const widthOf = (level: number): number => fanOut ** level
const sliceOf = (digest: number, level: number): number => Math.floor((digest * widthOf(level)) / 2 ** 32)

/** Returns the digest of a row. The keys are hashes, so four of their bytes are as good as a hash of all. */
function digestOf(key: Uint8Array): number {
  const digest = u32At(key, 0)
  return key.length > 32 ? (digest + Math.imul(u32At(key, 32), 0x9e3779b1)) >>> 0 : digest
}

function runKey(level: number, first: number, slice: number): Uint8Array {
  const key = new Uint8Array(13)
  key[0] = kinds.run + level
  const view = new DataView(key.buffer)
  view.setUint32(1, Math.floor(first / 2 ** 32))
  view.setUint32(5, first % 2 ** 32)
  view.setUint32(9, slice)
  return key
}

const deletionKey = (place: Uint8Array, number: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(kinds.deletion), place, number)

/** A row of an account or a slot. */
type RowPlace = { readonly table: number; readonly key: Uint8Array }

const placeOf = (row: RowPlace): Uint8Array => concatBytes(Uint8Array.of(row.table), row.key)

/** Rows that one block changes, collected to be written as its run. */
export class ChangedRows {
  readonly #number: number
  readonly #digests: number[] = []

  constructor(number: number) {
    this.#number = number
  }

  /** Adds a row, each once. @param isDeleted whether there is no row after the block */
  add(tx: KvWriter, row: RowPlace, isDeleted: boolean): void {
    this.#digests.push(digestOf(row.key))
    if (isDeleted) tx.put(table, deletionKey(placeOf(row), u64Bytes(this.#number)), nothing)
  }

  /** Writes the block's run, and the slices that are merged with this block. */
  writeTo(tx: KvWriter): void {
    putSlice(tx, runKey(0, this.#number, 0), runOf(this.#digests))
    for (const step of stepsAt(this.#number)) for (const { key, entries } of mergedSlices(tx, step)) putSlice(tx, key, entries)
  }
}

/** Entries in memory: digest × 2^16 + block - first block. */
type Entries = Float64Array

const runOf = (digests: readonly number[]): Entries => Float64Array.from(digests, (digest) => digest * offsets).sort()

/** Slices of a run that are merged with one block: from `slice`, `count` of them. */
type Step = { readonly level: number; readonly first: number; readonly slice: number; readonly count: number }

function* stepsAt(number: number): Generator<Step> {
  for (let level = 1; level <= levels; level++) {
    const width = widthOf(level)
    const after = (number + 1) % width
    const first = number + 1 - after - width
    const count = Math.min(width, stepSlices)
    if (first >= 0 && after * count < width) yield { level, first, slice: after * count, count }
  }
}

/** Tells whether a slice is merged already. @param head the last block */
function isMerged(level: number, first: number, slice: number, head: number): boolean {
  return level === 0 || head + 1 >= first + widthOf(level) + Math.floor(slice / stepSlices)
}

/** Iterates over the slices of a step, merged from the runs below. */
function* mergedSlices(
  reader: KvReader,
  { level, first, slice, count }: Step,
): Generator<{ readonly key: Uint8Array; readonly entries: Entries }> {
  const all: number[] = []
  for (let part = 0; part < fanOut; part++) {
    const offset = part * widthOf(level - 1)
    for (let below = slice / fanOut; below < (slice + count) / fanOut; below++) {
      reader.look(table, runKey(level - 1, first + offset, below), (row) => {
        for (const entry of decoded(row)) all.push(entry + offset)
      })
    }
  }
  const sorted = Float64Array.from(all).sort()
  let from = 0
  for (let to = slice; to < slice + count; to++) {
    const end = lowerBound(sorted, (2 ** 32 * offsets * (to + 1)) / widthOf(level))
    yield { key: runKey(level, first, to), entries: sorted.subarray(from, end) }
    from = end
  }
}

function lowerBound(sorted: Float64Array, entry: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < entry) low = middle + 1
    else high = middle
  }
  return low
}

function putSlice(tx: KvWriter, key: Uint8Array, entries: Entries): void {
  if (entries.length === 0) return
  const row = new Uint8Array(entryBytes * entries.length)
  const view = new DataView(row.buffer)
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as number
    view.setUint32(entryBytes * i, Math.floor(entry / offsets))
    view.setUint16(entryBytes * i + 4, entry % offsets)
  }
  tx.put(table, key, row)
}

/** Decodes the whole entries of a row. */
function decoded(row: Uint8Array): Entries {
  const entries = new Float64Array(Math.floor(row.length / entryBytes))
  const view = new DataView(row.buffer, row.byteOffset, row.length)
  for (let i = 0; i < entries.length; i++) entries[i] = view.getUint32(entryBytes * i) * offsets + view.getUint16(entryBytes * i + 4)
  return entries
}

/**
 * Returns the keys of slices written with a block that differ from its changed rows or from the runs below. Blocks up to `oldest` are not compared.
 * @param rows that the block changed
 */
export function damagedSlices(reader: KvReader, number: number, rows: readonly RowPlace[], oldest: number): Uint8Array[] {
  const isDamaged = (key: Uint8Array, first: number, expected: Entries): boolean => {
    const later = (entry: number): boolean => first + (entry % offsets) > oldest
    const found = reader.look(table, key, (row) => (row.length % entryBytes === 0 ? decoded(row) : undefined))
    const isThere = reader.look(table, key, () => true) ?? false
    if (isThere && found === undefined) return true
    return (found ?? new Float64Array()).filter(later).join() !== expected.filter(later).join()
  }
  const own = runKey(0, number, 0)
  const damaged = isDamaged(own, number, runOf(rows.map(({ key }) => digestOf(key)))) ? [own] : []
  for (const step of stepsAt(number)) {
    for (const { key, entries } of mergedSlices(reader, step)) if (isDamaged(key, step.first, entries)) damaged.push(key)
  }
  return damaged
}

/** Tells whether a block has a mark that it deleted a row. */
export function isMarkedDeleted(reader: KvReader, row: RowPlace, number: number): boolean {
  return reader.look(table, deletionKey(placeOf(row), u64Bytes(number)), () => true) ?? false
}

/** Tells whether a row of the index with a key like this may exist. @param head the last block */
export function mayExist(reader: KvReader, key: Uint8Array, head: number): boolean {
  if (key[0] === kinds.deletion) {
    const change = concatBytes(key.subarray(-8), key.subarray(1, -8))
    return reader.look(changesTable, change, (before) => decodeBefore(before) !== undefined) ?? false
  }
  const level = (key[0] ?? 0) - kinds.run
  if (level > levels || key.length !== 13 || u32At(key, 1) >= 2 ** 21) return false
  const [first, slice] = [u64FromBytes(key.subarray(1, 9)), u32At(key, 9)]
  return first <= head && first % widthOf(level) === 0 && slice < widthOf(level) && isMerged(level, first, slice, head)
}

/** The first key of runs and deletions; rows of schema 5 are below it. */
export const firstRunKey: Uint8Array = Uint8Array.of(kinds.run)

/** Removes a block that is unwound. @param rows that it changed */
export function dropChangedRows(tx: KvWriter, number: number, rows: readonly RowPlace[]): void {
  tx.delete(table, runKey(0, number, 0))
  for (const { level, first, slice, count } of stepsAt(number)) {
    for (let at = slice; at < slice + count; at++) tx.delete(table, runKey(level, first, at))
  }
  for (const row of rows) dropDeletion(tx, placeOf(row), u64Bytes(number))
}

/** Removes the mark that a block deleted a row, if there is one. @param place table id u8 ++ key @param number of the block, u64 */
export function dropDeletion(tx: KvWriter, place: Uint8Array, number: Uint8Array): void {
  const key = deletionKey(place, number)
  if (tx.look(table, key, () => true)) tx.delete(table, key)
}

/**
 * Removes the runs that end at or below `last`, oldest first.
 * @param hasTime called after every few rows; false ends the work
 * @returns whether nothing is left to remove
 */
export function pruneRuns(tx: KvWriter, last: number, hasTime: () => boolean): boolean {
  for (let level = 0; level <= levels; level++) {
    const end = last + 1 - ((last + 1) % widthOf(level))
    for (let from = runKey(level, 0, 0); ; ) {
      const keys = [...tx.keys(table, { from, to: runKey(level, end, 0), limit: rowsAtOnce })]
      for (const key of keys) tx.delete(table, key)
      const newest = keys.at(-1)
      if (newest === undefined || keys.length < rowsAtOnce) break
      if (!hasTime()) return false
      // past the deleted rows, which this transaction would look at again
      from = newest
    }
  }
  return true
}

/** Returns the offsets of a digest in a slice, from `least` on, ascending. */
function offsetsIn(row: Uint8Array, digest: number, least: number): number[] {
  let [low, high] = [0, row.length / entryBytes]
  while (low < high) {
    const middle = (low + high) >> 1
    const at = entryBytes * middle
    const order = u32At(row, at) - digest || (row[at + 4] as number) * 256 + (row[at + 5] as number) - least
    if (order < 0) low = middle + 1
    else high = middle
  }
  const found: number[] = []
  for (let at = entryBytes * low; at < row.length && u32At(row, at) === digest; at += entryBytes) {
    found.push((row[at + 4] as number) * 256 + (row[at + 5] as number))
  }
  return found
}

/** Returns the first block from `from` to `head` that changed a row; undefined when none did. @param head the last block */
export function firstBlockFrom(reader: KvReader, row: RowPlace, from: number, head: number): number | undefined {
  const digest = digestOf(row.key)
  for (let next = from; next <= head; ) {
    let level = levels
    let first = next - (next % widthOf(level))
    while (!isMerged(level, first, sliceOf(digest, level), head)) {
      level--
      first = next - (next % widthOf(level))
    }
    const key = runKey(level, first, sliceOf(digest, level))
    for (const offset of reader.look(table, key, (slice) => offsetsIn(slice, digest, next - first)) ?? []) {
      if (reader.look(changesTable, changeKey(first + offset, row.table, row.key), () => true)) return first + offset
    }
    next = first + widthOf(level)
  }
  return undefined
}

/** Iterates over the keys of rows that blocks after `number` deleted, with from ≤ key < to, each once. */
export function* deletedKeys(
  reader: KvReader,
  rowTable: number,
  range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined },
  number: number,
): Generator<Uint8Array> {
  const prefix = Uint8Array.of(kinds.deletion, rowTable)
  const to = range.to ? concatBytes(prefix, range.to) : Uint8Array.of(kinds.deletion, rowTable + 1)
  const numberAfter = u64Bytes(number + 1)
  for (let from = concatBytes(prefix, range.from); ; ) {
    const [mark] = reader.keys(table, { from, to, limit: 1 })
    if (mark === undefined) return
    const place = mark.slice(0, -8)
    if (u64FromBytes(mark.subarray(-8)) > number) {
      yield place.subarray(2)
      // past the other marks of the row, of which there may be one for each block
      from = concatBytes(place, lastNumber)
    } else from = concatBytes(place, numberAfter)
  }
}
