import { rmSync } from 'node:fs'
import { equalBytes } from '#lib/bytes'
import { errorMessage } from '#lib/fault'
import { dataFile, lockFile } from '../environmentFiles.ts'
import { storeFault } from '../faults.ts'
import { lockDir } from '../lmdb/dirLock.ts'
import { commitNow, openTables, type Tables } from '../lmdb/environment.ts'
import { isLmdbError, storeFailure } from '../lmdb/failure.ts'
import { makeDir } from '../lmdb/makeDir.ts'
import type { Root } from '../lmdb/tableRows.ts'
import type { TableSpec } from '../tables.ts'
import { packedRow, unpackRows } from './packedRows.ts'

/** Bytes of keys and values after which a transaction is due. */
export const dueBytes = 32 * 2 ** 20
const atEnd = { append: true } as const

/**
 * Writes many rows in large transactions. Rows of one table should ascend by key: the store then fills its pages from left to right. A transaction's rows
 * wait in one buffer, not as objects. The only user of its directory.
 */
export class BulkWriter implements AsyncDisposable {
  readonly #dir: string
  readonly #root: Root
  readonly #tables: Tables
  readonly #ascending: ReadonlySet<number>
  readonly #lock: Disposable
  #buffer = Buffer.alloc(dueBytes + 2 ** 20)
  #filled = 0
  #isClosed = false

  constructor(dir: string, root: Root, tables: Tables, ascending: ReadonlySet<number>, lock: Disposable) {
    this.#dir = dir
    this.#root = root
    this.#tables = tables
    this.#ascending = ascending
    this.#lock = lock
  }

  /** Whether the rows that wait should be written before more are added. */
  get isDue(): boolean {
    return this.#filled >= dueBytes
  }

  /** Adds a row to the next transaction. Key and value are copied. @param key 1 to 255 bytes */
  put(table: number, key: Uint8Array, value: Uint8Array): void {
    this.putPacked(packedRow(table, key, value))
  }

  /** Adds rows in the format of `packedRows.ts`. They are copied. */
  putPacked(rows: Uint8Array): void {
    const end = this.#filled + rows.length
    if (end > this.#buffer.length) this.#grow(end)
    this.#buffer.set(rows, this.#filled)
    this.#filled = end
  }

  /** Drops the rows that wait. */
  discard(): void {
    this.#filled = 0
  }

  /** Writes the rows that wait in one transaction, or none of them. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) */
  flush(): void {
    try {
      this.#root.transactionSync(() => {
        for (const { table, key, value } of unpackRows(this.#buffer.subarray(0, this.#filled))) {
          const place = this.#ascending.has(table) ? atEnd : undefined
          // a kill after the last transaction of a load writes its rows again
          if (!this.#tables.put(table, key, value, place) && !this.#has(table, key, value)) {
            throw new RangeError(`kv: rows of table ${table} do not ascend`)
          }
        }
      }, commitNow)
    } catch (error) {
      throw isLmdbError(error) ? storeFailure(this.#dir, error) : error
    }
    this.#filled = 0
  }

  #has(table: number, key: Uint8Array, value: Uint8Array): boolean {
    const found = this.#tables.lent(table, key)
    return found !== undefined && equalBytes(found, value)
  }

  /** Reads a row that is written. */
  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#tables.lent(table, key)?.slice()
  }

  /** Closes the tables and removes them with all their rows. */
  async remove(): Promise<void> {
    await this.#close(() => {
      for (const file of [dataFile(this.#dir), lockFile(this.#dir)]) rmSync(file, { force: true })
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close(() => {})
  }

  async #close(andThen: () => void): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#root.close()
      andThen()
    } finally {
      this.#lock[Symbol.dispose]()
    }
  }

  #grow(bytes: number): void {
    const larger = Buffer.alloc(Math.max(bytes, this.#buffer.length * 2))
    larger.set(this.#buffer.subarray(0, this.#filled))
    this.#buffer = larger
  }
}

/**
 * Opens, or creates, the tables in a directory for one writer of many rows.
 * @param ascending tables in which each new row is above all earlier ones, or one of them as it is
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, DATADIR_DAMAGED
 */
export function openBulkWriter(dir: string, specs: readonly TableSpec[], ascending: readonly number[] = []): BulkWriter {
  try {
    makeDir(dir)
  } catch (error) {
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: errorMessage(error) }, error)
  }
  const lock = lockDir(dir)
  try {
    const { root, tables } = openTables(dir, specs, 'writer')
    return new BulkWriter(dir, root, tables, new Set(ascending), lock)
  } catch (error) {
    lock[Symbol.dispose]()
    throw storeFault('DATADIR_DAMAGED', { dir, reason: errorMessage(error) }, error)
  }
}
