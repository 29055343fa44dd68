import { u64FromBytes } from '#lib/bytes'
import type { KvRange, KvReader, Row, RowReader } from '../ports.ts'
import type { SegmentFiles } from './segmentFiles.ts'
import { type SegmentRecord, segmentFrom } from './segmentRecords.ts'

/** Returns the block number in a key of the log index; that of the end of a kind has none. */
const numberIn = (key: Uint8Array): number => (key.length < 9 ? Number.POSITIVE_INFINITY : u64FromBytes(key.subarray(1, 9)))

/** Rows of the log index in the segment files that a snapshot records. A row is in the file with the block whose number is in its key. */
export class MovedRows implements RowReader {
  readonly #reader: KvReader
  readonly #files: SegmentFiles
  /** the last segment that was read */
  #last: SegmentRecord | undefined

  constructor(reader: KvReader, files: SegmentFiles) {
    this.#reader = reader
    this.#files = files
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const record = this.#from(table, numberIn(key))
    if (record === undefined) return undefined
    for (const row of this.#files.rowsFrom(record, key)) return Buffer.compare(row.key, key) === 0 ? use(row.value) : undefined
    return undefined
  }

  *range(table: number, range: KvRange): Generator<Row> {
    for (const { key, value } of this.#rows(table, range)) yield { key: key.slice(), value: value.slice() }
  }

  *keys(table: number, range: KvRange): Generator<Uint8Array> {
    for (const { key } of this.#rows(table, range)) yield key.slice()
  }

  *#rows(table: number, { from, to, limit = Number.POSITIVE_INFINITY, reverse }: KvRange): Generator<Row> {
    if (from === undefined || to === undefined || reverse) throw new RangeError('segment files are read in ascending ranges with both ends')
    let left = limit
    for (let number = numberIn(from); ; ) {
      const record = this.#from(table, number)
      if (record === undefined || record.first >= numberIn(to)) return
      for (const row of this.#files.rowsFrom(record, from)) {
        if (Buffer.compare(row.key, to) >= 0) break
        if (left-- <= 0) return
        yield row
      }
      number = record.last + 1
    }
  }

  /** Returns the segment with a block, or the first one after it. */
  #from(table: number, number: number): SegmentRecord | undefined {
    const last = this.#last
    if (last?.table === table && last.first <= number && number <= last.last) return last
    this.#last = Number.isFinite(number) ? segmentFrom(this.#reader, table, number) : undefined
    return this.#last
  }
}
