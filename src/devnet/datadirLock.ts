import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorMessage } from '#lib/fault'
import { devnetFault } from './faults.ts'

const busy = 5

/**
 * Takes the exclusive lock on the directory of a devnet, because two processes would both write its L1. The operating system holds it, by SQLite's
 * lock on an empty file as for the stores of a node (ADR 0006), so that a killed process leaves no lock behind.
 * @throws Fault DEVNET_DATADIR_BUSY, DEVNET_DATADIR_UNWRITABLE (fatal)
 */
export function holdDatadir(datadir: string): Disposable {
  let file: DatabaseSync | undefined
  try {
    mkdirSync(datadir, { recursive: true, mode: 0o700 })
    file = new DatabaseSync(join(datadir, 'LOCK'))
    file.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) throw devnetFault('DEVNET_DATADIR_BUSY', { datadir }, error)
    throw devnetFault('DEVNET_DATADIR_UNWRITABLE', { datadir, reason: errorMessage(error) }, error)
  }
  const held = file
  return { [Symbol.dispose]: () => held.close() }
}
