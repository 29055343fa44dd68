import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter, Row } from '#store/ports'
import { segmentWith } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { Log } from '#types/log'
import {
  BlockEnds,
  deleteBlock,
  deleteSegmentRows,
  entriesOf,
  type IndexedBlock,
  keysBefore,
  placeOf,
  putBlock,
  readBlock,
  readSegment,
  segmentRows,
  segmentsIn,
} from './logIndexRows.ts'

/**
 * Bounds of the newest blocks, which have a row each. The transaction of the block that reaches a bound joins them into a segment. A search reads each
 * segment once, and each of these blocks once.
 */
const bounds = { blocks: 1_024, entries: 65_536, transactions: 2 ** 20 }

/** Blocks that the index covers: from `from` to the last written one. Blocks from `open` on have a row each. */
export type IndexMark = { readonly from: number; readonly open: number; readonly entries: number; readonly transactions: number }

const markKey = new TextEncoder().encode('logs.index')
const prunedKey = new TextEncoder().encode('logs.pruned')

/** Returns the number of the first block whose logs are retained in the index. */
export const readLogsPruned = (reader: KvReader): number => reader.look(tables.meta.id, prunedKey, u64FromBytes) ?? 0

/** Returns undefined when there is no index. */
export function readIndexMark(reader: KvReader): IndexMark | undefined {
  const value = reader.get(tables.meta.id, markKey)
  if (value === undefined) return undefined
  const [from = 0, open = 0, entries = 0, transactions = 0] = [0, 8, 16, 24].map((at) => u64FromBytes(value.subarray(at, at + 8)))
  return { from, open, entries, transactions }
}

function writeMark(tx: KvWriter, { from, open, entries, transactions }: IndexMark): void {
  tx.put(tables.meta.id, markKey, concatBytes(...[from, open, entries, transactions].map(u64Bytes)))
}

const emptyFrom = (number: number): IndexMark => ({ from: number, open: number, entries: 0, transactions: 0 })

function withBlock(mark: IndexMark, { entries, transactions }: IndexedBlock, sign: 1 | -1): IndexMark {
  return { ...mark, entries: mark.entries + sign * entries.length, transactions: mark.transactions + sign * transactions }
}

/** Computes the index of one block. @param logs by transaction */
export const indexedBlock = (logs: readonly (readonly Log[])[]): IndexedBlock => ({ transactions: logs.length, entries: entriesOf(logs) })

/** Adds the block after the last one. @param logs by transaction */
export function indexLogs(tx: KvWriter, number: number, logs: readonly (readonly Log[])[]): void {
  const block = indexedBlock(logs)
  putBlock(tx, number, block)
  const mark = withBlock(readIndexMark(tx) ?? emptyFrom(number), block, 1)
  const isFull = number - mark.open + 1 >= bounds.blocks || mark.entries >= bounds.entries || mark.transactions >= bounds.transactions
  writeMark(tx, isFull ? joinOpenBlocks(tx, mark, number) : mark)
}

/** Joins the single blocks into a segment. */
function joinOpenBlocks(tx: KvWriter, mark: IndexMark, last: number): IndexMark {
  const blocks: IndexedBlock[] = []
  for (let number = mark.open; number <= last; number++) {
    const block = readBlock(tx, number)
    if (block === undefined) throw new RangeError(`log index: block ${number} is missing`)
    blocks.push(block)
    deleteBlock(tx, number)
  }
  join(tx, mark.open, blocks)
  return { ...emptyFrom(last + 1), from: mark.from }
}

/** Writes consecutive blocks as a segment. */
function join(tx: KvWriter, first: number, blocks: readonly IndexedBlock[]): void {
  for (const { key, value } of joinedRows(first, blocks)) tx.put(tables.logIndex.id, key, value)
}

/** Returns the rows of the segment of consecutive blocks: pages, then ends. */
export function joinedRows(first: number, blocks: readonly IndexedBlock[]): Generator<Row> {
  const all = new Float64Array(blocks.reduce((sum, { entries }) => sum + entries.length, 0))
  const ends = BlockEnds.of(blocks.map(({ transactions }) => transactions))
  let at = 0
  for (const [i, { entries }] of blocks.entries()) for (const entry of entries) all[at++] = entry + ends.at(i - 1)
  return segmentRows({ first, ends, entries: all.sort() })
}

/** Removes the last block, which is unwound. */
export function unindexLogs(tx: KvWriter, number: number): void {
  const mark = readIndexMark(tx)
  if (mark === undefined) return
  if (number < mark.from) {
    writeMark(tx, emptyFrom(number))
    return
  }
  const opened = number < mark.open ? splitSegment(tx, mark, number) : mark
  const block = readBlock(tx, number)
  if (block === undefined) throw new RangeError(`log index: block ${number} is missing`)
  deleteBlock(tx, number)
  writeMark(tx, withBlock(opened, block, -1))
}

/** Splits the last segment into single blocks. Segments in files are of blocks that are not unwound. */
function splitSegment(tx: KvWriter, mark: IndexMark, number: number): IndexMark {
  const [segment] = segmentsIn(tx, number)
  const joined = segment && readSegment(segment)
  if (segment === undefined || joined === undefined) throw new RangeError(`log index: no segment in the table has block ${number}`)
  deleteSegmentRows(tx, segment)
  const { first, ends, entries } = joined
  const byBlock = Array.from({ length: ends.count }, (): number[] => [])
  for (const entry of entries) {
    const block = ends.blockOf(placeOf(entry))
    byBlock[block]?.push(entry - ends.at(block - 1))
  }
  for (const [i, list] of byBlock.entries()) {
    putBlock(tx, first + i, { transactions: ends.at(i) - ends.at(i - 1), entries: Float64Array.from(list) })
  }
  return { from: mark.from, open: first, entries: entries.length, transactions: ends.at(ends.count - 1) }
}

/**
 * Adds blocks below the covered ones, the next lower first, while there is time. A store of an earlier version has no index.
 * @param logsOf logs of a block by transaction; undefined below the first block
 */
export function fillLogIndex(
  tx: KvWriter,
  logsOf: (number: number) => readonly (readonly Log[])[] | undefined,
  hasTime: () => boolean,
): void {
  const mark = readIndexMark(tx)
  const lowest = readLogsPruned(tx)
  if (mark === undefined || mark.from <= lowest) return
  const blocks: IndexedBlock[] = []
  let entries = 0
  let transactions = 0
  while (blocks.length < bounds.blocks && entries < bounds.entries && transactions < bounds.transactions && hasTime()) {
    const number = mark.from - blocks.length - 1
    const logs = number < lowest ? undefined : logsOf(number)
    if (logs === undefined) break
    const block = indexedBlock(logs)
    blocks.unshift(block)
    entries += block.entries.length
    transactions += block.transactions
  }
  if (blocks.length === 0) return
  const first = mark.from - blocks.length
  // a run down to the first block, or up to the single blocks, becomes a segment too
  join(tx, first, blocks)
  writeMark(tx, { ...mark, from: first })
}

/** Rows of the index to remove, and the first block that stays in it. */
export type LogPruning = { readonly from: number; readonly keys: readonly Uint8Array[] }

/**
 * Returns what to remove of the table for blocks before a number: whole segments, oldest first. None of a segment file with that block, which is removed as a
 * whole, later.
 * @param most rows
 * @returns undefined when there is nothing to remove
 */
export function planLogPruning(reader: KvReader, before: number, most: number): LogPruning | undefined {
  const mark = readIndexMark(reader)
  if (mark === undefined) return undefined
  const file = segmentWith(reader, tables.logIndex.id, before)
  const [segment = file] = file ? [] : segmentsIn(reader, before)
  const first = segment?.first ?? (before >= mark.open ? mark.open : mark.from)
  const from = Math.max(readLogsPruned(reader), before < mark.from ? before : first)
  const keys = keysBefore(reader, from, most)
  return keys.length > 0 || from > readLogsPruned(reader) ? { from, keys } : undefined
}

/** Removes rows of the index, inside a transaction. Blocks before `from` count as removed at once. */
export function pruneLogIndex(tx: KvWriter, { from, keys }: LogPruning): void {
  tx.put(tables.meta.id, prunedKey, u64Bytes(from))
  for (const key of keys) tx.delete(tables.logIndex.id, key)
}
