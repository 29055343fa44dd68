import { storeFault } from './faults.ts'
import { requireKey } from './keys.ts'
import { damageOf, makeDir } from './lmdb/dataFile.ts'
import { lockDir } from './lmdb/dirLock.ts'
import { openTables, type Root, type Row, snapshotOf, type Tables } from './lmdb/environment.ts'
import { reasonOf, roomIn, storeFailure } from './lmdb/failure.ts'
import type { Kv, KvRange, KvReader, KvWriter } from './ports.ts'
import type { TableSpec } from './tables.ts'
import { requireUsable, type Usage } from './usage.ts'

/** Abortable, committed when the call returns; the flush to the disk follows behind (`#flush`). */
const commitNow = 1 | 2 | 0x10000
/** Rows that a writer reads ahead of the caller, who may write to the table meanwhile. */
const readAheadRows = 256

class LmdbWriter implements KvWriter {
  readonly #tables: Tables

  constructor(tables: Tables) {
    this.#tables = tables
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#tables.get(table, key)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const value = this.#tables.lent(table, key)
    return value && use(value)
  }

  range(table: number, range: KvRange): Iterable<Row> {
    return inPieces(
      range,
      (piece) => [...this.#tables.range(table, piece)],
      ({ key }) => key,
    )
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    return inPieces(
      range,
      (piece) => [...this.#tables.keys(table, piece)],
      (key) => key,
    )
  }

  put(table: number, key: Uint8Array, value: Uint8Array): void {
    // lmdb reads the address of the value's buffer: bytes shared between threads have none
    this.#tables.of(table).putSync(requireKey(key), value.buffer instanceof SharedArrayBuffer ? value.slice() : value)
  }

  delete(table: number, key: Uint8Array): void {
    this.#tables.of(table).removeSync(requireKey(key))
  }
}

/** Walks a range by short pieces that are read at once, so that no cursor is open while the caller writes. */
function* inPieces<T>(range: KvRange, read: (piece: KvRange) => T[], keyOf: (item: T) => Uint8Array): Generator<T> {
  let piece = range
  for (let left = range.limit ?? Number.POSITIVE_INFINITY; left > 0; left -= readAheadRows) {
    const limit = Math.min(left, readAheadRows)
    const items = read({ ...piece, limit })
    yield* items
    const last = items.at(-1)
    if (last === undefined || items.length < limit) return
    piece = range.reverse ? { ...piece, to: keyOf(last) } : { ...piece, from: successor(keyOf(last)) }
  }
}

/** The first key after this one. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

class LmdbKv implements Kv {
  readonly #dir: string
  readonly #root: Root
  readonly #tables: Tables
  readonly #lock: Disposable
  readonly #usage: Usage = { isWriting: false, isClosed: false }
  #flushing: Promise<void> | undefined
  #isDirty = false
  #flushFailure: Error | undefined

  constructor(dir: string, root: Root, tables: Tables, lock: Disposable) {
    this.#dir = dir
    this.#root = root
    this.#tables = tables
    this.#lock = lock
  }

  write<T>(run: (tx: KvWriter) => T): T {
    requireUsable(this.#usage)
    if (this.#flushFailure) throw this.#flushFailure
    let ownFailure: { error: unknown } | undefined
    this.#usage.isWriting = true
    try {
      const result = this.#root.transactionSync(() => {
        try {
          return run(new LmdbWriter(this.#tables))
        } catch (error) {
          ownFailure = { error }
          throw error
        }
      }, commitNow)
      this.#isDirty = true
      this.#flushing ??= this.#flush()
      return result
    } catch (error) {
      if (ownFailure && !isLmdbError(ownFailure.error)) throw ownFailure.error
      throw storeFailure(this.#dir, error)
    } finally {
      this.#usage.isWriting = false
    }
  }

  snapshot(): KvReader & Disposable {
    return snapshotOf(this.#root, this.#tables, this.#usage)
  }

  freeBytes(): number {
    return roomIn(this.#dir)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#usage.isClosed) return
    this.#usage.isClosed = true
    try {
      await this.#flushing
      await this.#root.close()
    } finally {
      this.#lock[Symbol.dispose]()
    }
  }

  /** Brings committed pages to the disk in the background, until nothing new was written meanwhile. */
  async #flush(): Promise<void> {
    try {
      while (this.#isDirty) {
        this.#isDirty = false
        await syncToDisk(this.#root)
      }
    } catch (error) {
      this.#flushFailure = storeFault('STORE_FAILED', { dir: this.#dir, reason: reasonOf(error) }, error)
    } finally {
      this.#flushing = undefined
    }
  }
}

/** Errors of the database carry its negative codes or the system's numbers; those of a caller's function pass through. */
const isLmdbError = (error: unknown): boolean => error instanceof Error && 'code' in error && typeof error.code === 'number'

function syncToDisk(root: Root): Promise<void> {
  // the typings lack `sync`
  const { sync } = root as Root & { sync(done: (error?: Error) => void): void }
  return new Promise((resolve, reject) => sync.call(root, (error) => (error ? reject(error) : resolve())))
}

/**
 * Opens, or creates, the tables in a directory for the one process and thread that writes them.
 * @param dir is made when it is not there
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, DATADIR_DAMAGED; later writes: DISK_FULL, STORE_FAILED
 */
export function openLmdbKv(dir: string, specs: readonly TableSpec[]): Kv {
  try {
    makeDir(dir)
  } catch (error) {
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: reasonOf(error) }, error)
  }
  const lock = lockDir(dir)
  try {
    const damage = damageOf(dir)
    if (damage !== undefined) throw new Error(damage)
    const { root, tables } = openTables(dir, specs, 'writer')
    return new LmdbKv(dir, root, tables, lock)
  } catch (error) {
    lock[Symbol.dispose]()
    throw storeFault('DATADIR_DAMAGED', { dir, reason: reasonOf(error) }, error)
  }
}
