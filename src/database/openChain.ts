import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '#blockchain/chainStore'
import { openForeignChainReader } from '#store/chainTables'
import { dataFile } from '#store/environmentFiles'
import type { SnapshotSource } from '#store/ports'
import { chainSchema, requireReadable } from '#store/schema'
import { databaseFault } from './faults.ts'

export const chainDir = (datadir: string): string => join(datadir, 'chain')
export const consensusDir = (datadir: string): string => join(datadir, 'consensus')

/** Returns the database file of a data directory's chain. @throws Fault DATABASE_MISSING */
export function requireDatabase(datadir: string): string {
  const path = dataFile(chainDir(datadir))
  if (!existsSync(path)) throw databaseFault('DATABASE_MISSING', { path })
  return path
}

/**
 * Opens the chain of a data directory for reading, without its lock: a node in another process may use it.
 * @param onDamaged called with the table and the key of a damaged row, which then counts as absent. Absent: reading it is STORE_DAMAGED
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, STORE_DAMAGED, SCHEMA_NEWER, SCHEMA_TOO_OLD, SCHEMA_LOST
 */
export async function openChain(datadir: string, onDamaged?: (table: string, key: Uint8Array) => void): Promise<SnapshotSource> {
  const path = requireDatabase(datadir)
  await using opening = new AsyncDisposableStack()
  const source = opening.use(openForeignChainReader(chainDir(datadir), onDamaged))
  using reader = source.snapshot()
  requireReadable(reader, chainSchema)
  if (readHead(reader) === undefined) throw databaseFault('DATABASE_EMPTY', { path })
  opening.move()
  return source
}
