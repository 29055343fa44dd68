import type { Database, RangeOptions, RootDatabase } from 'lmdb'
import { compareBytes, equalBytes, u32At } from '#lib/bytes'
import { toHex } from '#lib/hex'
import type { KvRange } from '../ports.ts'
import type { TableSpec } from '../tables.ts'
import { rowSum, sumBytes } from './rowSum.ts'

export type Root = RootDatabase<Uint8Array, Uint8Array>
export type Row = { readonly key: Uint8Array; readonly value: Uint8Array }
export type Transaction = ReturnType<Root['useReadTransaction']>
/** `append`: the row is added at the end of its table, without a search */
export type PutOptions = { readonly append: true }
export type Rows = Database<Uint8Array, Uint8Array>
/** The typings lack the third parameter of `putSync`, its result, whether the row was put, and the second parameter of `getBinaryFast`. */
type Untyped = {
  putSync(key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean
  getBinaryFast(key: Uint8Array, options?: { transaction: Transaction }): Uint8Array | undefined
}

/** Thrown when rows contradict their checksums or their order. */
export class DamagedRow extends Error {}

const lowest = Uint8Array.of(0)
const highest = new Uint8Array(501).fill(0xff)
/** Bytes of a page of the smallest size, without its header. */
const pageBytes = 4_096 - 24

/** Rows of one of lmdb's databases. Calls throw lmdb's errors and DamagedRow. */
export interface TableRows {
  /** Length of a value that fills a page. */
  readonly pieceBytes: number
  /** Returns a value in a shared buffer, which the next read may overwrite. */
  read(key: Uint8Array, transaction?: Transaction): Uint8Array | undefined
  /** Throws when damage may hide a row that `read` did not find. */
  requireAbsent(key: Uint8Array, transaction?: Transaction): void
  /** Writes a row in the current transaction. @returns whether it was written */
  put(key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean
  /** Removes a row in the current transaction. @returns whether there was one */
  remove(key: Uint8Array): boolean
  range(range: KvRange, transaction?: Transaction): Iterable<Row>
  keys(range: KvRange, transaction?: Transaction): Iterable<Uint8Array>
}

/** Returns the same bytes as a plain Uint8Array. Only the caller owns them. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)

function readFrom(rows: Rows, key: Uint8Array, transaction: Transaction | undefined): Uint8Array | undefined {
  const table = rows as unknown as Untyped
  const bytes = transaction ? table.getBinaryFast(key, { transaction }) : table.getBinaryFast(key)
  return bytes && plain(bytes)
}

const inTransaction = (transaction: Transaction | undefined): RangeOptions => (transaction ? { transaction } : {})

/** One key and those below, descending. */
const upTo = (key: Uint8Array): RangeOptions => ({ start: key, end: lowest, reverse: true, inclusiveEnd: true })
/** Keys below one, descending. */
const below = (key: Uint8Array): RangeOptions => ({ ...upTo(key), exclusiveStart: true })

function rangeOptions({ from, to, reverse = false, limit }: KvRange, transaction: Transaction | undefined): RangeOptions {
  const ends = reverse ? { ...below(to ?? highest), end: from ?? lowest } : { start: from ?? lowest, end: to ?? highest }
  return { ...ends, ...(limit !== undefined && { limit }), ...inTransaction(transaction) }
}

function* keysIn(rows: Rows, range: KvRange, transaction: Transaction | undefined): Generator<Uint8Array> {
  for (const key of rows.getKeys(rangeOptions(range, transaction))) yield plain(key)
}

/** Rows without checksums, as earlier versions wrote them. */
export class PlainRows implements TableRows {
  readonly pieceBytes = pageBytes
  readonly #rows: Rows

  constructor(rows: Rows) {
    this.#rows = rows
  }

  read(key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    return readFrom(this.#rows, key, transaction)
  }

  requireAbsent(): void {}

  put(key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean {
    return (this.#rows as unknown as Untyped).putSync(key, value, options)
  }

  remove(key: Uint8Array): boolean {
    return this.#rows.removeSync(key)
  }

  *range(range: KvRange, transaction?: Transaction): Generator<Row> {
    for (const { key, value } of this.#rows.getRange(rangeOptions(range, transaction))) yield { key: plain(key), value: plain(value) }
  }

  keys(range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    return keysIn(this.#rows, range, transaction)
  }
}

/**
 * Rows with checksums (`rowSum.ts`). A search that a damaged key misleads, or whose own row has another key now, ends beside the row with that key. So of each row
 * that is not found both neighbours are checked, and of a range the rows beyond both ends.
 */
export class SummedRows implements TableRows {
  readonly pieceBytes: number = pageBytes - sumBytes
  readonly #rows: Rows
  readonly #table: number
  readonly #name: string
  readonly #noticesLoss: boolean
  #buffer = Buffer.alloc(pageBytes)

  /** @param table id that no other table of the environment has */
  constructor(rows: Rows, table: number, { name, noticesLoss }: TableSpec) {
    this.#rows = rows
    this.#table = table
    this.#name = name
    this.#noticesLoss = noticesLoss ?? false
  }

  read(key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    const row = readFrom(this.#rows, key, transaction)
    return row && this.#checked(key, row)
  }

  requireAbsent(key: Uint8Array, transaction?: Transaction): void {
    if (this.#noticesLoss) return
    const next = this.#first({ start: key }, transaction)
    const before = this.#first(upTo(key), transaction)
    const isAfter = next ? compareBytes(next, key) > 0 : this.#isEdge(before, false, transaction)
    const isBefore = before ? compareBytes(before, key) < 0 : this.#isEdge(next, true, transaction)
    if (!isAfter || !isBefore) throw this.#disorder(key)
  }

  put(key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean {
    const size = value.length + sumBytes
    if (size > this.#buffer.length) this.#buffer = Buffer.alloc(2 * size)
    this.#buffer.set(value)
    this.#buffer.writeUInt32BE(rowSum(this.#table, key, value, value.length), value.length)
    return (this.#rows as unknown as Untyped).putSync(key, this.#buffer.subarray(0, size), options)
  }

  remove(key: Uint8Array): boolean {
    return this.#rows.removeSync(key)
  }

  *range(range: KvRange, transaction?: Transaction): Generator<Row> {
    const { from = lowest, to = highest, reverse = false, limit = Number.POSITIVE_INFINITY } = range
    let left = limit
    if (left < 1) return
    for (const row of this.#ordered(range, transaction)) {
      if (reverse ? compareBytes(row.key, from) < 0 : compareBytes(row.key, to) >= 0) return
      yield row
      if (--left === 0) return
    }
  }

  /** Iterates over the rows from the start of a range to the end of the table, each in its order. */
  *#ordered(range: KvRange, transaction: Transaction | undefined): Generator<Row> {
    const { from = lowest, to = highest, reverse = false } = range
    let last = this.#before(range, transaction)
    // there is a row at the start of the range, although damage may lead the walk past it
    let isDue = !reverse && last !== undefined && compareBytes(last, from) === 0
    for (const row of this.#rows.getRange({ ...(reverse ? below(to) : { start: from }), ...inTransaction(transaction) })) {
      const key = plain(row.key)
      const value = this.#checked(key, plain(row.value))
      const step = last && (reverse ? compareBytes(last, key) : compareBytes(key, last))
      const isNext = step === undefined ? this.#isEdge(key, !reverse, transaction) : isDue ? step === 0 : step > 0
      if (!isNext) throw this.#disorder(key)
      isDue = false
      last = key
      yield { key, value }
    }
    if (isDue || !this.#isEdge(last, reverse, transaction)) throw this.#disorder(reverse ? from : to)
  }

  *keys(range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    if (this.#noticesLoss) yield* keysIn(this.#rows, range, transaction)
    else for (const { key } of this.range(range, transaction)) yield key
  }

  /** Returns the key before the first one of a range, in the direction of the range; undefined when the range begins at the end of the table. */
  #before({ from, to, reverse }: KvRange, transaction: Transaction | undefined): Uint8Array | undefined {
    const end = reverse ? to : from
    if (end === undefined) return undefined
    const before = this.#first(reverse ? { start: end } : upTo(end), transaction)
    if (before && (reverse ? compareBytes(before, end) < 0 : compareBytes(before, end) > 0)) throw this.#disorder(end)
    return before
  }

  /** Whether a key, or none, is the first one of the table, or the last one. */
  #isEdge(key: Uint8Array | undefined, isFirst: boolean, transaction: Transaction | undefined): boolean {
    const edge = this.#first(isFirst ? { start: lowest } : below(highest), transaction)
    return key === undefined || edge === undefined ? key === edge : equalBytes(key, edge)
  }

  /** Returns the first key of a range, whose row is checked. */
  #first(range: RangeOptions, transaction: Transaction | undefined): Uint8Array | undefined {
    for (const { key, value } of this.#rows.getRange({ ...range, limit: 1, ...inTransaction(transaction) })) {
      this.#checked(plain(key), plain(value))
      return plain(key)
    }
    return undefined
  }

  /** Returns the value of a row without its checksum. */
  #checked(key: Uint8Array, row: Uint8Array): Uint8Array {
    const length = row.length - sumBytes
    if (length < 0 || rowSum(this.#table, key, row, length) !== u32At(row, length)) {
      throw new DamagedRow(`the row ${toHex(key)} of table ${this.#name} does not have its checksum`)
    }
    return row.subarray(0, length)
  }

  #disorder(key: Uint8Array): DamagedRow {
    return new DamagedRow(`rows of table ${this.#name} are not in order near ${toHex(key)}`)
  }
}
