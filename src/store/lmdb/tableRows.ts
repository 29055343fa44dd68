import type { Database, RangeOptions, RootDatabase } from 'lmdb'
import { compareBytes, equalBytes, u32At } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { maxKeyBytes } from '../keys.ts'
import type { KvRange, Row } from '../ports.ts'
import type { TableSpec } from '../tables.ts'
import { rowSum, sumBytes } from './rowSum.ts'

export type Root = RootDatabase<Uint8Array, Uint8Array>
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
const highest = new Uint8Array(maxKeyBytes + 1).fill(0xff)
/** Bytes of a page of the smallest size, without its header. */
const pageBytes = 4_096 - 24
/** Longest range, in rows, that is also read in the other direction. */
const shortRows = 64

/** Rows of one of lmdb's databases. Calls throw lmdb's errors and DamagedRow. */
export interface TableRows {
  /** Length of a value that fills a page. */
  readonly pieceBytes: number
  /** Returns the length of a value, which is not compared with its checksum. */
  lengthOf(key: Uint8Array): number | undefined
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

/** The first key that a range may have: the empty one is below all others. */
const startOf = ({ from }: KvRange): Uint8Array => (from === undefined || from.length === 0 ? lowest : from)
/** Keys below one, descending. */
const below = (key: Uint8Array): RangeOptions => ({ start: key, end: lowest, reverse: true, exclusiveStart: true, inclusiveEnd: true })

const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equalBytes(a, b)

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

  lengthOf(key: Uint8Array): number | undefined {
    return readFrom(this.#rows, key, undefined)?.length
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

/** Returns the value of a row without its checksum; undefined when that is another one. */
function summedValue(table: number, key: Uint8Array, row: Uint8Array): Uint8Array | undefined {
  const length = row.length - sumBytes
  return length >= 0 && rowSum(table, key, row, length) === u32At(row, length) ? row.subarray(0, length) : undefined
}

/**
 * Rows with checksums for a verification, which continues at a damaged row: such a row is reported, and then counts as absent. Whether damage hides rows is not
 * checked, since a verification finds that by other rows.
 */
export class ReportedRows implements TableRows {
  readonly pieceBytes = pageBytes - sumBytes
  readonly #rows: Rows
  readonly #table: number
  readonly #onDamaged: (key: Uint8Array) => void

  constructor(rows: Rows, table: number, onDamaged: (key: Uint8Array) => void) {
    this.#rows = rows
    this.#table = table
    this.#onDamaged = onDamaged
  }

  lengthOf(key: Uint8Array): number | undefined {
    return this.read(key)?.length
  }

  read(key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    const row = readFrom(this.#rows, key, transaction)
    return row && this.#sound(key, row)
  }

  requireAbsent(): void {}

  put(): boolean {
    throw new Error('kv: rows for a verification are not written')
  }

  remove(): boolean {
    return this.put()
  }

  *range({ limit = Number.POSITIVE_INFINITY, ...range }: KvRange, transaction?: Transaction): Generator<Row> {
    let left = limit
    if (left < 1) return
    for (const row of this.#rows.getRange(rangeOptions(range, transaction))) {
      const key = plain(row.key)
      const value = this.#sound(key, plain(row.value))
      if (value) yield { key, value }
      if (value && --left === 0) return
    }
  }

  *keys(range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    for (const { key } of this.range(range, transaction)) yield key
  }

  #sound(key: Uint8Array, row: Uint8Array): Uint8Array | undefined {
    const value = summedValue(this.#table, key, row)
    if (value === undefined) this.#onDamaged(key)
    return value
  }
}

/**
 * Rows with checksums (`rowSum.ts`). A flipped bit in a key leads a search to a row beside the damaged one. A flipped bit in a page above leads it to a place
 * between rows that are not neighbours. So both neighbours of an absent row are checked, and for a range the rows beyond both ends.
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

  lengthOf(key: Uint8Array): number | undefined {
    const row = readFrom(this.#rows, key, undefined)
    return row && row.length - sumBytes
  }

  read(key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    const row = readFrom(this.#rows, key, transaction)
    return row && this.#checked(key, row)
  }

  requireAbsent(key: Uint8Array, transaction?: Transaction): void {
    if (this.#noticesLoss) return
    const next = this.#first({ start: key }, transaction)
    if (isSame(next, key)) throw this.#disorder(key)
    this.#requireStart({ from: key }, next, transaction)
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
    const { to, limit = Number.POSITIVE_INFINITY } = range
    if (limit < 1 || to?.length === 0) return
    const rows = this.#rowsIn(range, limit, transaction)
    // a caller that needs no row after the last one would not let the end be checked
    yield* limit > shortRows ? rows : [...rows]
  }

  *#rowsIn(range: KvRange, limit: number, transaction: Transaction | undefined): Generator<Row> {
    const { from = lowest, to = highest, reverse = false } = range
    const keys: Uint8Array[] = []
    let last: Uint8Array | undefined
    let left = limit
    for (const row of this.#ordered(range, transaction)) {
      if (last === undefined) this.#requireStart(range, row.key, transaction)
      last = row.key
      if (keys.length <= shortRows) keys.push(last)
      const isBeyond = reverse ? compareBytes(last, from) < 0 : compareBytes(last, to) >= 0
      if (isBeyond) return this.#requireBack(keys, reverse, transaction)
      yield row
      if (--left === 0) return this.#requireBack(keys, reverse, transaction)
    }
    if (last === undefined) return this.#requireStart(range, undefined, transaction)
    if (!isSame(this.#first(reverse ? { start: lowest } : below(highest), transaction), last)) throw this.#disorder(last)
    this.#requireBack(keys, reverse, transaction)
  }

  /** Iterates over the rows from the start of a range to the end of the table. */
  *#ordered(range: KvRange, transaction: Transaction | undefined): Generator<Row> {
    const { to = highest, reverse = false } = range
    const start = reverse ? below(to) : { start: startOf(range) }
    let last: Uint8Array | undefined
    for (const row of this.#rows.getRange({ ...start, ...inTransaction(transaction) })) {
      const key = plain(row.key)
      const value = this.#checked(key, plain(row.value))
      if (last && (reverse ? compareBytes(last, key) : compareBytes(key, last)) <= 0) throw this.#disorder(key)
      last = key
      yield { key, value }
    }
  }

  /**
   * Requires that `first` is the first key of a range in its direction: the row before it is outside the range, and the row after that row is `first`.
   * @param first undefined: the range has no rows, to the end of the table
   */
  #requireStart(range: KvRange, first: Uint8Array | undefined, transaction: Transaction | undefined): void {
    const { to = highest, reverse = false } = range
    const from = startOf(range)
    const ascending = (key: Uint8Array | undefined): RangeOptions => (key ? { start: key, exclusiveStart: true } : { start: lowest })
    const descending = (key: Uint8Array | undefined): RangeOptions => below(key ?? highest)
    const outside = this.#first(reverse ? ascending(first) : descending(first), transaction)
    const isOutside = outside === undefined || (reverse ? compareBytes(outside, to) >= 0 : compareBytes(outside, from) < 0)
    if (!isOutside || !isSame(this.#first(reverse ? descending(outside) : ascending(outside), transaction), first)) {
      throw this.#disorder(first ?? outside ?? from)
    }
  }

  /** Requires that a walk back from the last of some keys finds the same keys: a damaged page above the rows may lead past some of them in one direction. */
  #requireBack(keys: readonly Uint8Array[], reverse: boolean, transaction: Transaction | undefined): void {
    const last = keys.at(-1)
    if (last === undefined || keys.length === 1 || keys.length > shortRows) return
    let at = keys.length
    const back = reverse ? { start: last } : { start: last, end: lowest, reverse: true, inclusiveEnd: true }
    for (const key of this.#rows.getKeys({ ...back, limit: keys.length, ...inTransaction(transaction) })) {
      if (!isSame(plain(key), keys[--at])) throw this.#disorder(last)
    }
    if (at > 0) throw this.#disorder(last)
  }

  *keys(range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    if (this.#noticesLoss) yield* keysIn(this.#rows, range, transaction)
    else for (const { key } of this.range(range, transaction)) yield key
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
    const value = summedValue(this.#table, key, row)
    if (value === undefined) throw new DamagedRow(`the row ${toHex(key)} of table ${this.#name} does not have its checksum`)
    return value
  }

  #disorder(key: Uint8Array): DamagedRow {
    return new DamagedRow(`rows of table ${this.#name} are not in order near ${toHex(key)}`)
  }
}
