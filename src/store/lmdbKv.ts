import { existsSync } from 'node:fs'
import { equalBytes, latin1 } from '#lib/bytes'
import { errorMessage, type Fault, isFault } from '#lib/fault'
import { lockFile } from './environmentFiles.ts'
import { storeFault } from './faults.ts'
import { damageOf } from './lmdb/damage.ts'
import { lockDir } from './lmdb/dirLock.ts'
import { Draft, type DraftRow } from './lmdb/draft.ts'
import { beginFreeList, commitNow, openTables, snapshotOf, type Tables } from './lmdb/environment.ts'
import { isLmdbError, roomIn, storeFailure } from './lmdb/failure.ts'
import { removeCopy } from './lmdb/leftCopy.ts'
import { makeDir } from './lmdb/makeDir.ts'
import type { Root } from './lmdb/tableRows.ts'
import type { Kv, KvReader, KvWriter } from './ports.ts'
import type { TableSpec } from './tables.ts'
import { requireUsable, type Usage } from './usage.ts'

class LmdbKv implements Kv {
  readonly #dir: string
  readonly #root: Root
  readonly #tables: Tables
  readonly #lock: Disposable
  readonly #onRow: () => void
  readonly #usage: Usage = { isWriting: false, isClosed: false }
  #flushFailure: Error | undefined

  constructor(dir: string, root: Root, tables: Tables, lock: Disposable, onRow: () => void) {
    this.#onRow = onRow
    this.#dir = dir
    this.#root = root
    this.#tables = tables
    this.#lock = lock
  }

  write<T>(run: (tx: KvWriter) => T): T {
    requireUsable(this.#usage)
    if (this.#flushFailure) throw this.#flushFailure
    const draft = this.#drafted(run)
    this.#usage.isWriting = true
    try {
      this.#root.transactionSync(() => this.#writeRows(draft.rows), commitNow)
    } catch (error) {
      throw this.#isVisible(draft.rows) ? this.#notOnDisk(error) : storeFailure(this.#dir, error)
    } finally {
      this.#usage.isWriting = false
    }
    return draft.result
  }

  /** Runs the function on a snapshot: a thread that ends inside a transaction, its heap exhausted, leaves the lock of lmdb behind. */
  #drafted<T>(run: (tx: KvWriter) => T): { readonly result: T; readonly rows: Draft } {
    using base = snapshotOf(this.#root, this.#tables, { isWriting: false, isClosed: false })
    const rows = new Draft(base)
    this.#usage.isWriting = true
    try {
      return { result: run(rows), rows }
    } catch (error) {
      throw isLmdbError(error) ? storeFailure(this.#dir, error) : error
    } finally {
      this.#usage.isWriting = false
    }
  }

  #writeRows(draft: Draft): void {
    for (const { table, rows } of draft.rows()) {
      for (const { key, value } of rows) {
        this.#onRow()
        if (value === undefined) this.#tables.remove(table, key)
        else this.#tables.put(table, key, value)
      }
    }
  }

  /** Whether readers see the rows of a failed transaction: LMDB flushes a transaction that they see already. */
  #isVisible(draft: Draft): boolean {
    using now = snapshotOf(this.#root, this.#tables, { isWriting: false, isClosed: false })
    for (const { table, rows } of draft.rows()) {
      // of rows with one key, the last one applies
      const last = new Map<string, DraftRow>()
      for (const row of rows) last.set(latin1(row.key), row)
      for (const { key, value } of last.values()) {
        const stored = now.peek(table, key, (found) => found.slice())
        if (stored === undefined ? value !== undefined : value === undefined || !equalBytes(stored, value)) return false
      }
    }
    return true
  }

  /** Ends writing: a visible transaction can be neither taken back nor written again. */
  #notOnDisk(error: unknown): Error {
    this.#flushFailure = storeFault('STORE_FAILED', { dir: this.#dir, reason: errorMessage(error) }, error)
    return this.#flushFailure
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
      await this.#root.close()
    } finally {
      this.#lock[Symbol.dispose]()
    }
  }
}

/**
 * Opens, or creates, the tables in a directory for the only process and thread that writes them.
 * @param dir is made when it is not there
 * @param onRow called before each row that a transaction writes
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, DATADIR_DAMAGED, DISK_FULL; later writes: DISK_FULL, STORE_FAILED
 */
export function openLmdbKv(dir: string, specs: readonly TableSpec[], onRow: () => void = () => {}): Kv {
  try {
    makeDir(dir)
  } catch (error) {
    throw fullOr('DATADIR_UNWRITABLE', dir, error)
  }
  const lock = lockDir(dir)
  try {
    removeCopy(dir)
    requireRoom(dir)
    const damage = damageOf(dir)
    if (damage !== undefined) throw new Error(damage)
    const { root, tables } = openTables(dir, specs, 'writer')
    beginFreeList(root)
    return new LmdbKv(dir, root, tables, lock, onRow)
  } catch (error) {
    lock[Symbol.dispose]()
    throw fullOr('DATADIR_DAMAGED', dir, error)
  }
}

/** Returns the fault DISK_FULL for an error that names a full disk, and another one otherwise. */
function fullOr(code: 'DATADIR_UNWRITABLE' | 'DATADIR_DAMAGED', dir: string, error: unknown): Fault {
  const failure = storeFailure(dir, error, Number.POSITIVE_INFINITY)
  return isFault(failure, 'DISK_FULL') ? failure : storeFault(code, { dir, reason: errorMessage(error) }, error)
}

/** Room for new tables: their first pages, and LMDB's file of readers. */
const newTablesBytes = 512 * 1_024

/** Requires room for new tables: LMDB maps its file of readers before it has blocks on the disk, and without them the process ends (SIGBUS). */
function requireRoom(dir: string): void {
  if (existsSync(lockFile(dir))) return
  const room = roomIn(dir)
  if (room < newTablesBytes) throw storeFault('DISK_FULL', { dir, reason: `${room} bytes are free, and new tables need ${newTablesBytes}` })
}

/**
 * Opens the tables of an open `Kv` of this process for writes in another thread. The thread that opened them first must not write meanwhile, and closes
 * them last: it holds the lock of the directory.
 * @param onRow as of `openLmdbKv`
 * @throws Fault DATADIR_DAMAGED
 */
export function openLmdbWriter(dir: string, specs: readonly TableSpec[], onRow: () => void): Kv {
  try {
    const { root, tables } = openTables(dir, specs, 'writer')
    return new LmdbKv(dir, root, tables, { [Symbol.dispose](): void {} }, onRow)
  } catch (error) {
    throw storeFault('DATADIR_DAMAGED', { dir, reason: errorMessage(error) }, error)
  }
}
