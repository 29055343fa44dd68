import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorMessage } from '#lib/fault'
import { storeFault } from '../faults.ts'

const sqliteBusy = 5

const hasErrorCode = (error: unknown, code: number): boolean => error instanceof Error && 'errcode' in error && error.errcode === code

/**
 * Takes the exclusive right to write to a directory, until disposal or the end of this process. The operating system holds the lock (SQLite's
 * lock on an empty file), so a killed process leaves no lock, and process ids are not needed.
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE
 */
export function lockDir(dir: string): Disposable {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(dir, 'LOCK'))
    // without a journal file, for which a full disk has no room
    file.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    // an existing file can be locked on a read-only disk
    accessSync(dir, constants.W_OK)
  } catch (error) {
    file?.close()
    if (hasErrorCode(error, sqliteBusy)) throw storeFault('DATADIR_LOCKED', { dir }, error)
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: errorMessage(error) }, error)
  }
  const held = file
  return { [Symbol.dispose]: () => held.close() }
}
