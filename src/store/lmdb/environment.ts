import { type Database, open, type RangeOptions, type RootDatabase } from 'lmdb'
import { errorMessage } from '#lib/fault'
import { storeFault } from '../faults.ts'
import { requireKey } from '../keys.ts'
import type { KvRange, KvReader } from '../ports.ts'
import type { TableSpec } from '../tables.ts'
import { requireUsable, type Usage } from '../usage.ts'
import { isLmdbError } from './failure.ts'
import { Pieces, pieceBytes, piecesOf } from './pieces.ts'

/** `pieces`: in tables of long values that this or an earlier process has opened to write */
type Table = { readonly rows: Database<Uint8Array, Uint8Array>; readonly pieces: Pieces | undefined }
export type Root = RootDatabase<Uint8Array, Uint8Array>
/** `append`: the row is added at the end of its table, without a search */
export type PutOptions = { readonly append: true }
/** The typings lack the third parameter, and the result: whether the row was put. */
type Written = { putSync(key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean }
export type Row = { readonly key: Uint8Array; readonly value: Uint8Array }
type Transaction = ReturnType<Root['useReadTransaction']>

const lowest = Uint8Array.of(0)
const highest = new Uint8Array(501).fill(0xff)

export class Tables {
  readonly #dir: string
  readonly #byId: ReadonlyMap<number, Table>

  constructor(dir: string, byId: ReadonlyMap<number, Table>) {
    this.#dir = dir
    this.#byId = byId
  }

  #of(id: number): Table {
    const table = this.#byId.get(id)
    if (table === undefined) throw new RangeError(`kv: no table ${id}`)
    return table
  }

  /**
   * Writes a row in the current transaction.
   * @param options of lmdb, for the row
   * @returns whether it was written
   */
  put(id: number, key: Uint8Array, value: Uint8Array, options?: PutOptions): boolean {
    const { rows, pieces } = this.#of(id)
    const before = pieces && this.#read(rows, key)
    const first = pieces ? value.subarray(0, pieceBytes) : value
    if (!(rows as unknown as Written).putSync(key, first, options)) return false
    pieces?.put(key, value, before)
    return true
  }

  /** Removes a row in the current transaction. */
  remove(id: number, key: Uint8Array): void {
    const { rows, pieces } = this.#of(id)
    pieces?.remove(key, this.#read(rows, key))
    rows.removeSync(key)
  }

  get(id: number, key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    return this.lent(id, key, transaction)?.slice()
  }

  /** Returns a value in a shared buffer, which the next read may overwrite. */
  lent(id: number, key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    const { rows, pieces } = this.#of(id)
    const first = this.#read(rows, requireKey(key), transaction)
    return first && pieces ? this.#joined(pieces, { key, value: first }, transaction) : first
  }

  #joined(pieces: Pieces, { key, value }: Row, transaction: Transaction | undefined): Uint8Array {
    return pieces.join(key, value, (table, at) => this.#read(table, at, transaction))
  }

  /** Returns the value of a row in lmdb's shared buffer. */
  #read(rows: Table['rows'], key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    // the typings lack the second parameter of `getBinaryFast`, which `get` has
    const table = rows as Table['rows'] & { getBinaryFast(key: Uint8Array, options?: { transaction: Transaction }): Uint8Array | undefined }
    let bytes: Uint8Array | undefined
    try {
      bytes = transaction ? table.getBinaryFast(key, { transaction }) : table.getBinaryFast(key)
    } catch (error) {
      throw this.#failure(error)
    }
    return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  range(id: number, range: KvRange, transaction?: Transaction): Generator<Row> {
    const { rows, pieces } = this.#of(id)
    const whole = (row: Row): Row => {
      const { key, value } = plainRow(row)
      return pieces && value.length === pieceBytes
        ? { key, value: this.#joined(pieces, { key, value }, transaction).slice() }
        : { key, value }
    }
    return this.#walk(rows.getRange(rangeOptions(range, transaction)), whole)
  }

  keys(id: number, range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    return this.#walk(this.#of(id).rows.getKeys(rangeOptions(range, transaction)), plain)
  }

  /** Iterates and converts errors of the database; exceptions that the caller throws during the iteration are not converted. */
  *#walk<T, U>(items: Iterable<T>, convert: (item: T) => U): Generator<U> {
    const walk = items[Symbol.iterator]()
    try {
      for (;;) {
        let next: IteratorResult<T>
        try {
          next = walk.next()
        } catch (error) {
          throw this.#failure(error)
        }
        if (next.done) return
        yield convert(next.value)
      }
    } finally {
      walk.return?.()
    }
  }

  #failure(error: unknown): unknown {
    return isLmdbError(error) ? storeFault('STORE_DAMAGED', { dir: this.#dir, reason: errorMessage(error) }, error) : error
  }
}

function rangeOptions({ from, to, reverse = false, limit }: KvRange, transaction: Transaction | undefined): RangeOptions {
  const ends = reverse
    ? { start: to ?? highest, end: from ?? lowest, reverse, exclusiveStart: true, inclusiveEnd: true }
    : { start: from ?? lowest, end: to ?? highest }
  return { ...ends, ...(limit !== undefined && { limit }), ...(transaction && { transaction }) }
}

/** Returns the same bytes as a plain Uint8Array. Only the caller owns them. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
const plainRow = ({ key, value }: Row): Row => ({ key: plain(key), value: plain(value) })

export class LmdbReader implements KvReader, Disposable {
  readonly #tables: Tables
  readonly #transaction: Transaction
  readonly #usage: Usage
  #isDone = false

  constructor(tables: Tables, transaction: Transaction, usage: Usage) {
    this.#tables = tables
    this.#transaction = transaction
    this.#usage = usage
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    this.#check()
    return this.#tables.get(table, key, this.#transaction)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    this.#check()
    const value = this.#tables.lent(table, key, this.#transaction)
    return value && use(value)
  }

  range(table: number, range: KvRange): Iterable<Row> {
    this.#check()
    return this.#tables.range(table, range, this.#transaction)
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    this.#check()
    return this.#tables.keys(table, range, this.#transaction)
  }

  [Symbol.dispose](): void {
    if (!this.#isDone && !this.#usage.isClosed) this.#transaction.done()
    this.#isDone = true
  }

  #check(): void {
    if (this.#isDone) throw new Error('kv: the snapshot was disposed of')
    requireUsable(this.#usage)
  }
}

/** Creates a snapshot of all committed rows. */
export function snapshotOf(root: Root, tables: Tables, usage: Usage): LmdbReader {
  requireUsable(usage)
  root.resetReadTxn()
  return new LmdbReader(tables, root.useReadTransaction(), usage)
}

/**
 * Most reads of a state larger than memory are of single pages at random places. With the system's read-ahead, each of them read megabytes (a disk with 8 MB
 * of read-ahead: 4.6 MB for each page fault) and evicted pages in use. The typings lack the option.
 */
const randomReads = { noReadAhead: true }

/**
 * lmdb keeps a sorted list of free pages in memory, and inserts each page that is freed. A long list took most of a commit. As no value needs neighbouring pages
 * (`pieces.ts`), a few pages are enough. The typings lack the option.
 */
const shortFreeList = { maxFreeSpaceToLoad: 500 }

/** Opens an environment with its tables. A reader creates neither. */
export function openTables(dir: string, specs: readonly TableSpec[], as: 'writer' | 'reader'): { root: Root; tables: Tables } {
  const root = open<Uint8Array, Uint8Array>({
    ...randomReads,
    path: dir,
    noSubdir: false,
    maxDbs: 64,
    maxReaders: 512,
    encoding: 'binary',
    keyEncoding: 'binary',
    ...(as === 'writer' ? { overlappingSync: true, ...shortFreeList } : { readOnly: true }),
  })
  // undefined: a reader found none
  const opened = (name: string): Table['rows'] | undefined =>
    root.openDB<Uint8Array, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' })
  const byId = new Map<number, Table>()
  for (const { id, name, isLong } of specs) {
    const pieces = isLong ? opened(piecesOf(name)) : undefined
    byId.set(id, { rows: opened(name) as Table['rows'], pieces: pieces && new Pieces(pieces) })
  }
  return { root, tables: new Tables(dir, byId) }
}

/**
 * Begins the list of free pages of a copy that has none, with a transaction that leaves the rows as they are. Without a list, lmdb ends the process (SIGSEGV) when the
 * first transaction frees more than some 250 pages.
 */
export function beginFreeList(root: Root): void {
  // the typings lack the fields
  const { free } = root.getStats() as { readonly free: { readonly entryCount: number } }
  if (free.entryCount > 0) return
  root.transactionSync(() => {
    root.putSync(lowest, lowest)
    root.removeSync(lowest)
  })
}
