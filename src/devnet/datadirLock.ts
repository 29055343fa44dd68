import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorMessage } from '#lib/fault'
import { devnetFile } from './datadir.ts'
import { devnetFault } from './faults.ts'

const busy = 5

/**
 * Takes the exclusive lock on the directory of a devnet, because two processes would both write its L1. The operating system holds it, by SQLite's
 * lock on an empty file as for the stores of a node (ADR 0006), so that a killed process leaves no lock behind. The
 * file is removed at the end when it is new and no devnet was created beside it, as after a refused start.
 * @throws Fault DEVNET_DATADIR_BUSY, DEVNET_DATADIR_UNWRITABLE (fatal)
 */
export function holdDatadir(datadir: string): Disposable {
  const path = join(datadir, 'LOCK')
  const isNew = !existsSync(path)
  let file: DatabaseSync | undefined
  try {
    mkdirSync(datadir, { recursive: true, mode: 0o700 })
    file = new DatabaseSync(path)
    file.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) throw devnetFault('DEVNET_DATADIR_BUSY', { datadir }, error)
    throw devnetFault('DEVNET_DATADIR_UNWRITABLE', { datadir, reason: errorMessage(error) }, error)
  }
  const held = file
  return {
    [Symbol.dispose](): void {
      if (isNew && !existsSync(join(datadir, devnetFile))) rmSync(path, { force: true })
      held.close()
    },
  }
}
