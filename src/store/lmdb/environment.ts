import { open } from 'lmdb'
import { latin1, u64Bytes } from '#lib/bytes'
import { errorMessage } from '#lib/fault'
import { storeFault } from '../faults.ts'
import { requireKey } from '../keys.ts'
import type { KvRange, KvReader, Row } from '../ports.ts'
import type { TableSpec } from '../tables.ts'
import { requireUsable, type Usage } from '../usage.ts'
import { isLmdbError } from './failure.ts'
import { Pieces, piecesSuffix } from './pieces.ts'
import {
  DamagedRow,
  PlainRows,
  type PutOptions,
  ReportedRows,
  type Root,
  type Rows,
  SummedRows,
  type TableRows,
  type Transaction,
} from './tableRows.ts'

/** lmdb's error for the key of a row that is longer than any. */
const damagedKey = /^Invalid key size/

/** `pieces`: in tables of long values that this or an earlier process has opened to write */
type Table = { readonly rows: TableRows; readonly pieces: Pieces | undefined }

/** Called with the table and the key of a row that does not have its checksum. */
export type OnDamaged = (table: string, key: Uint8Array) => void

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
    const before = pieces && rows.lengthOf(key)
    if (!rows.put(key, pieces ? pieces.firstOf(value) : value, options)) return false
    pieces?.put(key, value, before)
    return true
  }

  /** Removes a row in the current transaction. */
  remove(id: number, key: Uint8Array): void {
    const { rows, pieces } = this.#of(id)
    pieces?.remove(key, rows.lengthOf(key))
    rows.remove(key)
  }

  /** Returns a value in a shared buffer, which the next read may overwrite. */
  lent(id: number, key: Uint8Array, transaction?: Transaction): Uint8Array | undefined {
    const { rows, pieces } = this.#of(id)
    try {
      const first = rows.read(requireKey(key), transaction)
      return first && pieces ? pieces.join(key, first, transaction) : first
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** @throws Fault STORE_DAMAGED when damage may hide a row that was not found */
  requireAbsent(id: number, key: Uint8Array, transaction: Transaction): void {
    try {
      this.#of(id).rows.requireAbsent(key, transaction)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  range(id: number, range: KvRange, transaction?: Transaction): Generator<Row> {
    const { rows, pieces } = this.#of(id)
    const whole = ({ key, value }: Row): Row => {
      const joined = pieces?.join(key, value, transaction)
      return joined && joined !== value ? { key, value: joined.slice() } : { key, value }
    }
    return this.#walk(rows.range(range, transaction), whole)
  }

  keys(id: number, range: KvRange, transaction?: Transaction): Generator<Uint8Array> {
    return this.#walk(this.#of(id).rows.keys(range, transaction), (key) => key)
  }

  /** Iterates and converts errors of the database; exceptions that the caller throws during the iteration are not converted. */
  *#walk<T>(items: Iterable<T>, convert: (item: T) => T): Generator<T> {
    const walk = items[Symbol.iterator]()
    try {
      for (;;) {
        let item: T
        try {
          const next = walk.next()
          if (next.done) return
          item = convert(next.value)
        } catch (error) {
          throw this.#failure(error)
        }
        yield item
      }
    } finally {
      walk.return?.()
    }
  }

  #failure(error: unknown): unknown {
    const isDamage = isLmdbError(error) || error instanceof DamagedRow || damagedKey.test(errorMessage(error))
    if (!isDamage) return error
    return storeFault('STORE_DAMAGED', { dir: this.#dir, reason: errorMessage(error) }, error)
  }
}

/** Flags of a transaction that can be aborted, and whose call returns when its pages are on the disk (ABORTABLE, SYNCHRONOUS_COMMIT, NO_SYNC_FLUSH): readers see it before. */
export const commitNow = 1 | 2 | 0x10000

/** Longest key of a mark, in bytes, and the number of absent ones that a snapshot keeps. */
const [markBytes, markCount] = [24, 64]

class LmdbReader implements KvReader, Disposable {
  readonly #tables: Tables
  readonly #transaction: Transaction
  readonly #usage: Usage
  #isDone = false
  /** Short keys that are absent: the same marks are asked for again and again. */
  readonly #absent = new Set<string>()

  constructor(tables: Tables, transaction: Transaction, usage: Usage) {
    this.#tables = tables
    this.#transaction = transaction
    this.#usage = usage
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.look(table, key, (value) => value.slice())
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    this.#check()
    const value = this.#tables.lent(table, key, this.#transaction)
    if (value) return use(value)
    this.#requireAbsent(table, key)
    return undefined
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
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

  #requireAbsent(table: number, key: Uint8Array): void {
    const name = key.length <= markBytes ? `${table}:${latin1(key)}` : undefined
    if (name !== undefined && this.#absent.has(name)) return
    this.#tables.requireAbsent(table, key, this.#transaction)
    if (name !== undefined && this.#absent.size < markCount) this.#absent.add(name)
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

/** End of the name of a table whose rows have checksums. */
export const sumsSuffix = '.sums'
/** Added to the id of a table for that of its pieces. */
const piecesId = 0x100

/** Where versions that know no checksums find a schema that is newer than theirs. */
export const olderMark = { table: 'meta', key: Buffer.from('schema'), value: u64Bytes(11) }

/** Returns the name of the table in `tables.ts` to which one of lmdb's databases belongs. */
export const ownerOf = (name: string): string => name.split('.', 1)[0] as string

/**
 * Opens an environment with its tables. A reader creates neither. Rows have checksums if the environment is new, or had them before: those of an environment of
 * schema 10 stay without.
 * @param onDamaged of a verification (`ReportedRows`). Damaged marks are faults nevertheless: without them it cannot begin
 */
export function openTables(
  dir: string,
  specs: readonly TableSpec[],
  as: 'writer' | 'reader',
  onDamaged?: OnDamaged,
): { root: Root; tables: Tables } {
  const root: Root = open<Uint8Array, Uint8Array>({
    ...randomReads,
    path: dir,
    noSubdir: false,
    maxDbs: 64,
    maxReaders: 512,
    encoding: 'binary',
    keyEncoding: 'binary',
    ...(as === 'writer' ? { overlappingSync: true, ...shortFreeList } : { readOnly: true }),
  })
  // lmdb ends each name with a zero byte
  const names = Array.from(root.getKeys(), (name) => latin1(name).replace(/\0$/, ''))
  const hasSums = names.length === 0 || names.some((name) => name.startsWith(ownerOf(name) + sumsSuffix))
  const isSummed = ({ hasHashes }: TableSpec): boolean => hasSums && !hasHashes
  const nameOf = (spec: TableSpec): string => (isSummed(spec) ? spec.name + sumsSuffix : spec.name)
  const wanted = specs.flatMap((spec) => (spec.isLong ? [nameOf(spec), nameOf(spec) + piecesSuffix] : [nameOf(spec)]))
  requireNames(names, wanted)
  // the table of the mark is created last
  const missing = hasSums && names.includes(olderMark.table) ? wanted.find((name) => !names.includes(name)) : undefined
  if (missing !== undefined) throw new Error(`table ${missing} is missing`)
  // undefined: a reader found none
  const database = (name: string): Rows | undefined => root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' })
  const opened = (spec: TableSpec, id: number, suffix = ''): TableRows | undefined => {
    const rows = database(nameOf(spec) + suffix)
    if (rows === undefined) return undefined
    if (!isSummed(spec)) return new PlainRows(rows)
    const isReported = onDamaged !== undefined && spec.name !== olderMark.table
    return isReported ? new ReportedRows(rows, id, (key) => onDamaged(spec.name, key)) : new SummedRows(rows, id, spec)
  }
  const byId = new Map<number, Table>()
  for (const spec of specs) {
    const { id, isLong } = spec
    const pieces = isLong && opened(spec, id + piecesId, piecesSuffix)
    byId.set(id, { rows: opened(spec, id) as TableRows, pieces: pieces && new Pieces(pieces) })
  }
  if (hasSums && as === 'writer') markForOlder(database(olderMark.table) as Rows)
  return { root, tables: new Tables(dir, byId) }
}

function markForOlder(meta: Rows): void {
  if (meta.get(olderMark.key) === undefined) meta.putSync(olderMark.key, olderMark.value)
}

/** Requires that no table has a name that damage changed: the next writer would create it again, without rows. */
function requireNames(names: readonly string[], wanted: readonly string[]): void {
  const isChanged = (name: string, from: string): boolean =>
    name.length === from.length && [...name].filter((letter, at) => letter !== from[at]).length === 1
  const missing = wanted.find((name) => !names.includes(name) && names.some((other) => isChanged(other, name)))
  if (missing !== undefined) throw new Error(`the name of table ${missing} is damaged`)
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
    root.putSync(Uint8Array.of(0), Uint8Array.of(0))
    root.removeSync(Uint8Array.of(0))
  })
}
