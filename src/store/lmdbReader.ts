import { errorMessage } from '#lib/fault'
import { storeFault } from './faults.ts'
import { damageOf } from './lmdb/damage.ts'
import { type OnDamaged, openTables, snapshotOf } from './lmdb/environment.ts'
import type { KvReader, SnapshotSource } from './ports.ts'
import type { TableSpec } from './tables.ts'
import type { Usage } from './usage.ts'

/**
 * Opens a source of snapshots of tables that another thread or process writes. Takes no lock and writes nothing. Within one process the writer must
 * open the directory first, because the first open determines how the process uses it.
 * @param onDamaged as of `openTables`
 * @throws Fault DATADIR_DAMAGED when the tables do not exist
 */
export function openLmdbReader(dir: string, specs: readonly TableSpec[], onDamaged?: OnDamaged): SnapshotSource {
  const usage: Usage = { isWriting: false, isClosed: false }
  const { root, tables } = opened(dir, specs, onDamaged)
  return {
    snapshot: (): KvReader & Disposable => snapshotOf(root, tables, usage),
    async [Symbol.asyncDispose](): Promise<void> {
      if (usage.isClosed) return
      usage.isClosed = true
      await root.close()
    },
  }
}

function opened(dir: string, specs: readonly TableSpec[], onDamaged: OnDamaged | undefined): ReturnType<typeof openTables> {
  try {
    return openTables(dir, specs, 'reader', onDamaged)
  } catch (error) {
    throw storeFault('DATADIR_DAMAGED', { dir, reason: errorMessage(error) }, error)
  }
}

/** A writer may overwrite a page between two reads of the check, which then starts over. */
const fileChecks = 5

/**
 * Opens tables that another process may be writing, after a check of their file: LMDB would end this process at a page that is missing.
 * @throws Fault DATADIR_DAMAGED
 */
export function openForeignReader(dir: string, specs: readonly TableSpec[], onDamaged?: OnDamaged): SnapshotSource {
  let damage = damageOf(dir)
  for (let checks = 1; damage !== undefined && checks < fileChecks; checks++) damage = damageOf(dir)
  if (damage !== undefined) throw storeFault('DATADIR_DAMAGED', { dir, reason: damage })
  return openLmdbReader(dir, specs, onDamaged)
}
