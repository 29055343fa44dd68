import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import type { Log } from '#types/log'
import {
  BlockEnds,
  deleteBlockRow,
  entriesOf,
  type IndexedBlock,
  lookAtEnds,
  placeOf,
  putBlockRow,
  putSegment,
  readBlockRow,
  segmentsFrom,
  takeSegment,
} from './logIndexRows.ts'

/**
 * Bounds of the newest blocks, which stand alone; then they become a segment, in the transaction of the block that reaches one of them. A search
 * looks once into each segment, and once into each of these blocks.
 */
const bounds = { blocks: 1_024, entries: 65_536, transactions: 2 ** 20 }

/** What the index covers: all blocks from `from` to the last one that was written; those from `open` on stand alone. */
export type IndexMark = { readonly from: number; readonly open: number; readonly entries: number; readonly transactions: number }

const markKey = new TextEncoder().encode('logs.index')

/** Undefined: there is no index yet. */
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

/** Adds the block after the last one. @param logs by transaction */
export function indexLogs(tx: KvWriter, number: number, logs: readonly (readonly Log[])[]): void {
  const block = { transactions: logs.length, entries: entriesOf(logs) }
  putBlockRow(tx, number, block)
  const mark = withBlock(readIndexMark(tx) ?? emptyFrom(number), block, 1)
  const isFull = number - mark.open + 1 >= bounds.blocks || mark.entries >= bounds.entries || mark.transactions >= bounds.transactions
  writeMark(tx, isFull ? sealed(tx, mark, number) : mark)
}

/** Makes one segment of the blocks that stand alone. */
function sealed(tx: KvWriter, mark: IndexMark, last: number): IndexMark {
  const blocks: IndexedBlock[] = []
  for (let number = mark.open; number <= last; number++) {
    const block = readBlockRow(tx, number)
    if (block === undefined) throw new RangeError(`log index: block ${number} is missing`)
    blocks.push(block)
    deleteBlockRow(tx, number)
  }
  join(tx, mark.open, blocks)
  return { ...emptyFrom(last + 1), from: mark.from }
}

/** Writes blocks one after another as a segment. */
function join(tx: KvWriter, first: number, blocks: readonly IndexedBlock[]): void {
  const all = new Float64Array(blocks.reduce((sum, { entries }) => sum + entries.length, 0))
  const ends = BlockEnds.of(blocks.map(({ transactions }) => transactions))
  let at = 0
  for (const [i, { entries }] of blocks.entries()) for (const entry of entries) all[at++] = entry + ends.at(i - 1)
  putSegment(tx, { first, last: first + blocks.length - 1 }, ends, all.sort())
}

/** Takes out the last block, which is unwound. */
export function unindexLogs(tx: KvWriter, number: number): void {
  const mark = readIndexMark(tx)
  if (mark === undefined) return
  if (number < mark.from) {
    writeMark(tx, emptyFrom(number))
    return
  }
  const opened = number < mark.open ? unsealed(tx, mark, number) : mark
  const block = readBlockRow(tx, number)
  if (block === undefined) throw new RangeError(`log index: block ${number} is missing`)
  deleteBlockRow(tx, number)
  writeMark(tx, withBlock(opened, block, -1))
}

/** Lets the blocks of the last segment stand alone again. */
function unsealed(tx: KvWriter, mark: IndexMark, number: number): IndexMark {
  const [segment] = segmentsFrom(tx, number)
  const ends = segment && lookAtEnds(tx, segment, ({ bytes }) => new BlockEnds(bytes.slice()))
  if (segment === undefined || ends === undefined) throw new RangeError(`log index: no segment has block ${number}`)
  const entries = takeSegment(tx, segment)
  const { first } = segment
  const byBlock = Array.from({ length: ends.count }, (): number[] => [])
  for (const entry of entries) {
    const block = ends.blockOf(placeOf(entry))
    byBlock[block]?.push(entry - ends.at(block - 1))
  }
  for (const [i, list] of byBlock.entries()) {
    putBlockRow(tx, first + i, { transactions: ends.at(i) - ends.at(i - 1), entries: Float64Array.from(list) })
  }
  return { from: mark.from, open: first, entries: entries.length, transactions: ends.at(ends.count - 1) }
}

/**
 * Adds blocks below those that are covered, the next one first, as many as there is time for: a store of an earlier version has none.
 * @param logsOf a block by its number, by transaction; undefined below the first one
 */
export function fillLogIndex(
  tx: KvWriter,
  logsOf: (number: number) => readonly (readonly Log[])[] | undefined,
  hasTime: () => boolean,
): void {
  const mark = readIndexMark(tx)
  if (mark === undefined || mark.from === 0) return
  const blocks: IndexedBlock[] = []
  let entries = 0
  let transactions = 0
  while (blocks.length < bounds.blocks && entries < bounds.entries && transactions < bounds.transactions && hasTime()) {
    const logs = logsOf(mark.from - blocks.length - 1)
    if (logs === undefined) break
    const block: IndexedBlock = { transactions: logs.length, entries: entriesOf(logs) }
    blocks.unshift(block)
    entries += block.entries.length
    transactions += block.transactions
  }
  if (blocks.length === 0) return
  const first = mark.from - blocks.length
  // the first blocks of all, or a run that joins those that stand alone, make a segment too
  join(tx, first, blocks)
  writeMark(tx, { ...mark, from: first })
}
