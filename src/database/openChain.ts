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

/**
 * Opens the chain of a data directory for reading, without its lock: a node in another process may use it.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER
 */
export async function openChain(datadir: string): Promise<SnapshotSource> {
  const dir = chainDir(datadir)
  const path = dataFile(dir)
  if (!existsSync(path)) throw databaseFault('DATABASE_MISSING', { path })
  await using opening = new AsyncDisposableStack()
  const source = opening.use(openForeignChainReader(dir))
  using reader = source.snapshot()
  requireReadable(reader, chainSchema)
  if (readHead(reader) === undefined) throw databaseFault('DATABASE_EMPTY', { path })
  opening.move()
  return source
}
