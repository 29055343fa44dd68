import { errorMessage } from '#lib/fault'
import { storeFault } from './faults.ts'
import { lockDir } from './lmdb/dirLock.ts'
import { openTables, type Root, type Tables } from './lmdb/environment.ts'
import { isLmdbError, storeFailure } from './lmdb/failure.ts'
import { makeDir } from './lmdb/makeDir.ts'
import type { TableSpec } from './tables.ts'

/** Bytes of keys and values after which a transaction is due. */
const dueBytes = 32 * 2 ** 20
/** Committed when the call returns, flushed to the disk in the background, as a node's transactions. */
const commitNow = 1 | 2 | 0x10000
/** Bytes before each row in the buffer: table, length of the key, length of the value. */
const headBytes = 6

/**
 * Writes many rows in large transactions. Rows of one table should ascend by key: the store then fills its pages from left to right. A transaction's rows
 * wait in one buffer, not as objects. The only user of its directory.
 */
export class BulkWriter implements AsyncDisposable {
  readonly #dir: string
  readonly #root: Root
  readonly #tables: Tables
  readonly #lock: Disposable
  #buffer = Buffer.alloc(dueBytes + 2 ** 20)
  #filled = 0
  #isClosed = false

  constructor(dir: string, root: Root, tables: Tables, lock: Disposable) {
    this.#dir = dir
    this.#root = root
    this.#tables = tables
    this.#lock = lock
  }

  /** Whether the rows that wait should be written before more are added. */
  get isDue(): boolean {
    return this.#filled >= dueBytes
  }

  /** Adds a row to the next transaction. Key and value are copied. @param key 1 to 255 bytes */
  put(table: number, key: Uint8Array, value: Uint8Array): void {
    const end = this.#filled + headBytes + key.length + value.length
    if (key.length === 0 || key.length > 255) throw new RangeError(`a key of ${key.length} bytes`)
    if (end > this.#buffer.length) this.#grow(end)
    const buffer = this.#buffer
    const at = this.#filled
    buffer[at] = table
    buffer[at + 1] = key.length
    buffer.writeUInt32LE(value.length, at + 2)
    buffer.set(key, at + headBytes)
    buffer.set(value, at + headBytes + key.length)
    this.#filled = end
  }

  /** Drops the rows that wait. */
  discard(): void {
    this.#filled = 0
  }

  /** Writes the rows that wait in one transaction, or none of them. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) */
  flush(): void {
    const buffer = this.#buffer
    try {
      this.#root.transactionSync(() => {
        for (let at = 0; at < this.#filled; ) {
          const keyFrom = at + headBytes
          const valueFrom = keyFrom + (buffer[at + 1] ?? 0)
          const end = valueFrom + buffer.readUInt32LE(at + 2)
          this.#tables.of(buffer[at] ?? 0).putSync(buffer.subarray(keyFrom, valueFrom), buffer.subarray(valueFrom, end))
          at = end
        }
      }, commitNow)
    } catch (error) {
      throw isLmdbError(error) ? storeFailure(this.#dir, error) : error
    }
    this.#filled = 0
  }

  /** Reads a row that is written. */
  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#tables.get(table, key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#root.close()
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
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, DATADIR_DAMAGED
 */
export function openBulkWriter(dir: string, specs: readonly TableSpec[]): BulkWriter {
  try {
    makeDir(dir)
  } catch (error) {
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: errorMessage(error) }, error)
  }
  const lock = lockDir(dir)
  try {
    const { root, tables } = openTables(dir, specs, 'writer')
    return new BulkWriter(dir, root, tables, lock)
  } catch (error) {
    lock[Symbol.dispose]()
    throw storeFault('DATADIR_DAMAGED', { dir, reason: errorMessage(error) }, error)
  }
}
