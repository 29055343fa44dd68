import { compareBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { requireKey } from '../keys.ts'
import type { KvRange, KvReader, KvWriter, Row } from '../ports.ts'
import { SortedRows, type SortedRowsEdit } from './sortedRows.ts'

/** A row to write; without a value, the row is deleted. */
export type DraftRow = { readonly key: Uint8Array; readonly value: Uint8Array | undefined }

/** Number of rows that a range reads ahead, because the caller may write to the table during the iteration. */
const readAheadRows = 256
const chunkBytes = 65_536
const nothing = new Uint8Array(0)

/** Bytes at both ends of a key that its hash depends on. Keys begin and end in hashes, in the path of a node or in a number. */
const hashedBytes = { first: 8, last: 20 }

/** Random in each process, so that a contract cannot choose keys with equal hashes. */
const seed = crypto.getRandomValues(new Int32Array(1))[0] as number

/**
 * FNV-1a hash of both ends of a key, reduced to 30 bits. The first bytes tell slots of different accounts apart: many contracts may have written the same slot.
 */
function hashOf(key: Uint8Array): number {
  const lastAt = Math.max(0, key.length - hashedBytes.last)
  let hash = seed
  for (let at = 0; at < lastAt && at < hashedBytes.first; at++) hash = Math.imul(hash ^ (key[at] as number), 0x01000193)
  for (let at = lastAt; at < key.length; at++) hash = Math.imul(hash ^ (key[at] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}

/** Pending writes to one table. Rows are indexed by key only in tables that are read, because most tables are only written. */
class DraftTable {
  /** In write order; the last row with a key applies. */
  readonly rows: DraftRow[] = []
  /** `#last`: the last row with a hash. `#before`: for each row, the previous row with the same hash. */
  readonly #last = new Map<number, number>()
  readonly #before: (number | undefined)[] = []
  /** Rows that a later row with their key replaces, as far as rows are indexed. */
  readonly #replaced = new Set<number>()
  /** Index of the last row with each key, in key order; built at the first range read. */
  #order: SortedRowsEdit | undefined
  /** Number of rows that are in `#order`. */
  #ordered = 0

  find(key: Uint8Array): DraftRow | undefined {
    for (let at = this.#before.length; at < this.rows.length; at++) {
      const { key: added } = this.rows[at] as DraftRow
      const hash = hashOf(added)
      const replaced = this.#find(added, hash)
      if (replaced !== undefined) this.#replaced.add(replaced)
      this.#before.push(this.#last.get(hash))
      this.#last.set(hash, at)
    }
    const found = this.#find(key, hashOf(key))
    return found === undefined ? undefined : this.rows[found]
  }

  #find(key: Uint8Array, hash: number): number | undefined {
    for (let at = this.#last.get(hash); at !== undefined; at = this.#before[at]) {
      if (compareBytes((this.rows[at] as DraftRow).key, key) === 0) return at
    }
    return undefined
  }

  /** Iterates over the rows to store, in write order: without those that are known to be replaced. */
  *toStore(): Generator<DraftRow> {
    for (const [at, row] of this.rows.entries()) if (!this.#replaced.has(at)) yield row
  }

  *range({ from, to, reverse = false }: KvRange): Generator<DraftRow> {
    this.#order ??= SortedRows.empty.edit()
    for (; this.#ordered < this.rows.length; this.#ordered++) {
      this.#order.put((this.rows[this.#ordered] as DraftRow).key, u64Bytes(this.#ordered))
    }
    for (const { value } of this.#order.range(from, to, reverse)) yield this.rows[u64FromBytes(value)] as DraftRow
  }
}

/** Copies of values, many in one buffer. */
class Copies {
  #chunk: Uint8Array = nothing
  #used = 0

  of(value: Uint8Array): Uint8Array {
    if (value.length > chunkBytes / 16) return value.slice()
    if (this.#used + value.length > this.#chunk.length) {
      this.#chunk = new Uint8Array(chunkBytes)
      this.#used = 0
    }
    const copy = this.#chunk.subarray(this.#used, this.#used + value.length)
    copy.set(value)
    this.#used += value.length
    return copy
  }
}

/** Pending writes of a function over a snapshot; the store is still unchanged. */
export class Draft implements KvWriter {
  readonly #base: KvReader
  readonly #tables = new Map<number, DraftTable>()
  readonly #copies = new Copies()

  constructor(base: KvReader) {
    this.#base = base
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    const row = this.#tables.get(table)?.find(key)
    return row ? row.value?.slice() : this.#base.get(table, key)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const row = this.#tables.get(table)?.find(key)
    if (row === undefined) return this.#base.look(table, key, use)
    return row.value && use(row.value)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const row = this.#tables.get(table)?.find(key)
    if (row === undefined) return this.#base.peek(table, key, use)
    return row.value && use(row.value)
  }

  /** Reads short pieces, each at once, because the caller may write during the iteration. */
  *range(table: number, range: KvRange): Generator<Row> {
    let piece = range
    for (let left = range.limit ?? Number.POSITIVE_INFINITY; left > 0; left -= readAheadRows) {
      const limit = Math.min(left, readAheadRows)
      const rows = this.#piece(table, { ...piece, limit })
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) return
      piece = range.reverse ? { ...piece, to: last.key } : { ...piece, from: successor(last.key) }
    }
  }

  *keys(table: number, range: KvRange): Generator<Uint8Array> {
    for (const { key } of this.range(table, range)) yield key
  }

  put(table: number, key: Uint8Array, value: Uint8Array): void {
    this.#table(table).rows.push({ key: requireKey(key), value: this.#copies.of(value) })
  }

  delete(table: number, key: Uint8Array): void {
    this.#table(table).rows.push({ key: requireKey(key), value: undefined })
  }

  /** Iterates over the rows to store by table, in write order. */
  *rows(): Generator<{ readonly table: number; readonly rows: Iterable<DraftRow> }> {
    for (const [table, drafted] of this.#tables) yield { table, rows: drafted.toStore() }
  }

  #table(id: number): DraftTable {
    let table = this.#tables.get(id)
    if (table === undefined) {
      table = new DraftTable()
      this.#tables.set(id, table)
    }
    return table
  }

  #piece(table: number, range: KvRange & { readonly limit: number }): Row[] {
    const drafted = this.#tables.get(table)
    if (drafted === undefined) return [...this.#base.range(table, range)]
    const { limit, ...open } = range
    const rows: Row[] = []
    for (const { key, value } of merged(this.#base.range(table, open), drafted.range(open), range.reverse ? -1 : 1)) {
      if (value !== undefined) rows.push({ key, value })
      if (rows.length === limit) break
    }
    return rows
  }
}

/** Merges stored and drafted rows in key order; a drafted row replaces the stored row with its key. @param sign −1: descending */
export function* merged(stored: Iterable<Row>, drafted: Iterable<DraftRow>, sign: 1 | -1): Generator<DraftRow> {
  const over = drafted[Symbol.iterator]()
  let next = over.next()
  for (const row of stored) {
    let order = 1
    while (!next.done) {
      order = sign * compareBytes(row.key, next.value.key)
      if (order < 0) break
      yield next.value
      next = over.next()
      if (order === 0) break
    }
    if (order !== 0) yield row
  }
  for (; !next.done; next = over.next()) yield next.value
}

/** Returns the first key after this one. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}
