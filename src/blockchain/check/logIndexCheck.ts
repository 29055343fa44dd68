import { equalBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { type Hex, toHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { hasRows } from '#store/keys'
import type { KvReader, Row, RowReader } from '#store/ports'
import type { CheckWatch } from '#store/rowCheck'
import { segmentWith, unlessDamaged } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { readCanonicalHash, readReceipts } from '../chainStore.ts'
import { type IndexMark, indexedBlock, joinedRows, readIndexMark, readLogsPruned } from '../logIndex/logIndex.ts'
import { blockRows, type IndexedBlock, openBlock, readBlock, rowRange, type Segment, segmentsFrom } from '../logIndex/logIndexRows.ts'

const { id, name } = tables.logIndex

/**
 * Checks the log index against the receipts, from a block on, for as long as the watch has time. Blocks that are joined in a segment are checked together.
 * Blocks without sound receipts are left out, because the check of blocks reports them.
 * @param from undefined: the first block of the index
 * @param head number of the last block
 * @returns the next block; undefined at the end
 */
export function checkLogIndex(reader: KvReader, from: number | undefined, head: number, watch: CheckWatch): number | undefined {
  const mark = readIndexMark(reader)
  const check = new LogIndexCheck(reader, watch)
  if (mark === undefined && hasRows(reader, id)) {
    check.differs(markKey, 'the blocks of the log index, which has rows', 'no row', tables.meta.name)
  }
  if (mark === undefined || mark.open > head + 1 || mark.from > mark.open) {
    if (mark) check.differs(markKey, `blocks from ${mark.from}, single ones from ${mark.open}, up to ${head}`, 'other blocks')
    return undefined
  }
  if (from === undefined) check.checkEnds(mark, head)
  const first = Math.max(from ?? mark.from, mark.from, readLogsPruned(reader))
  for (let number = first; number <= head; ) {
    if (number > first && !watch.hasTime()) return number
    number = number < mark.open ? checkReadable(reader, check, number, mark.open) : check.checkBlock(number)
  }
  return undefined
}

/** Checks the segment with a block. Leaves out a damaged segment file, because the check of files reports it. @returns the block after it */
function checkReadable(reader: KvReader, check: LogIndexCheck, number: number, open: number): number {
  const file = segmentWith(reader, id, number)
  return unlessDamaged(() => check.checkSegment(number, open)) ?? (file?.last ?? number) + 1
}

/** Returns undefined for rows that no version has written: the comparison of rows reports them. */
function unlessWrong<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const indexOfLogs = 'the index of the logs in the receipts'
const markKey: Uint8Array = new TextEncoder().encode('logs.index')

class LogIndexCheck {
  readonly #reader: KvReader
  readonly #watch: CheckWatch

  constructor(reader: KvReader, watch: CheckWatch) {
    this.#reader = reader
    this.#watch = watch
  }

  differs(key: Uint8Array, expected: string, found: string, table: string = name): void {
    this.#watch.report({ table, key: toHex(key), expected, found })
  }

  /** Checks that there are no rows outside the blocks of the mark, and the counts in it. */
  checkEnds(mark: IndexMark, head: number): void {
    const { from, open } = mark
    const outside = [
      rowRange('page', 0, from),
      rowRange('page', open),
      rowRange('segment', 0, from),
      rowRange('segment', open),
      rowRange('block', 0, open),
      rowRange('block', head + 1),
    ]
    for (const range of outside) {
      for (const key of this.#reader.keys(id, range)) this.differs(key, 'no row outside the indexed blocks', 'a row')
    }
    let [entries, transactions] = [0, 0]
    for (let number = open; number <= head; number++) {
      const block = unlessWrong(() => readBlock(this.#reader, number))
      entries += block?.entries.length ?? 0
      transactions += block?.transactions ?? 0
    }
    if (entries === mark.entries && transactions === mark.transactions) return
    const counts = (of: Pick<IndexMark, 'entries' | 'transactions'>): string => `${of.entries} entries of ${of.transactions} transactions`
    this.differs(markKey, counts({ entries, transactions }), counts(mark), tables.meta.name)
  }

  /** Checks the segment with a block. @returns the block after it */
  checkSegment(number: number, open: number): number {
    const [segment] = segmentsFrom(this.#reader, number, open)
    if (segment === undefined || segment.last >= open) {
      const [next] = this.#reader.keys(id, { ...rowRange('segment', number, open), limit: 1 })
      this.differs(rowRange('segment', number).from, `a segment that begins at or before block ${number}`, next ? toHex(next) : 'no row')
      return open
    }
    const blocks = this.#indexedBlocks(segment)
    if (blocks) {
      const expected = [...joinedRows(segment.first, blocks)]
      this.#compare(segment.rows, rowRange('page', segment.first, segment.last + 1), expected.slice(0, -1))
      this.#compare(segment.rows, rowRange('segment', segment.first, segment.last + 1), expected.slice(-1))
    }
    return segment.last + 1
  }

  checkBlock(number: number): number {
    const block = this.#indexedBlock(number)
    const bits = unlessWrong(() => openBlock(this.#reader, number)?.bits)
    if (block) this.#compare(this.#reader, rowRange('block', number, number + 1), blockRows(number, block, bits))
    return number + 1
  }

  #indexedBlocks({ first, last }: Segment): IndexedBlock[] | undefined {
    const blocks: IndexedBlock[] = []
    for (let number = first; number <= last; number++) {
      const block = this.#indexedBlock(number)
      if (block === undefined) return undefined
      blocks.push(block)
    }
    return blocks
  }

  /** Computes the index of a block from its receipts; undefined without readable ones. */
  #indexedBlock(number: number): IndexedBlock | undefined {
    this.#watch.onRow()
    const hash = readCanonicalHash(this.#reader, number)
    try {
      const receipts = hash && readReceipts(this.#reader, { number, hash })
      return receipts && indexedBlock(receipts.map(({ receipt }) => receipt.logs))
    } catch (error) {
      if (error instanceof RangeError || error instanceof RlpError || isFault(error, 'SEGMENT_DAMAGED')) return undefined
      throw error
    }
  }

  /** Compares the rows of a range with those expected there, both in key order. */
  #compare(rows: RowReader, range: { readonly from: Uint8Array; readonly to: Uint8Array }, expected: readonly Row[]): void {
    const missing = new Map<Hex, Uint8Array>(expected.map(({ key, value }) => [toHex(key), value]))
    const report = (key: Hex, wanted: string, found: string): void => this.#watch.report({ table: name, key, expected: wanted, found })
    for (const { key, value } of rows.range(id, range)) {
      const right = missing.get(toHex(key))
      missing.delete(toHex(key))
      if (right === undefined) report(toHex(key), 'no such row', 'a row')
      else if (!equalBytes(right, value)) report(toHex(key), indexOfLogs, 'another value')
    }
    for (const key of missing.keys()) report(key, indexOfLogs, 'no row')
  }
}
