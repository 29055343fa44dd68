import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '#blockchain/chainStore'
import { openForeignChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { chainSchema, requireReadable } from '#store/schema'
import { databaseFault } from './faults.ts'

export const chainDir = (datadir: string): string => join(datadir, 'chain')
export const consensusDir = (datadir: string): string => join(datadir, 'consensus')
export const dataFile = (dir: string): string => join(dir, 'data.mdb')

/** Returns the database file of a data directory's chain. @throws Fault DATABASE_MISSING */
export function requireDatabase(datadir: string): string {
  const path = dataFile(chainDir(datadir))
  if (!existsSync(path)) throw databaseFault('DATABASE_MISSING', { path })
  return path
}

/**
 * Opens the chain of a data directory for reading, without its lock: a node in another process may use it.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER
 */
export async function openChain(datadir: string): Promise<SnapshotSource> {
  const path = requireDatabase(datadir)
  await using opening = new AsyncDisposableStack()
  const source = opening.use(openForeignChainReader(chainDir(datadir)))
  using reader = source.snapshot()
  requireReadable(reader, chainSchema)
  if (readHead(reader) === undefined) throw databaseFault('DATABASE_EMPTY', { path })
  opening.move()
  return source
}
