import { readGenesisId, readHeads, readHeadsSequence, type StoredHeads } from '#blockchain/chainStore'
import type { Clock } from '#lib/clock'
import { type CompactionStep, compactEnvironment } from '#store/compaction'
import { environmentStats } from '#store/environmentStats'
import { openLmdbReader } from '#store/lmdbReader'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { databaseFault } from './faults.ts'
import { chainDir, requireDatabase } from './openChain.ts'

export type CompactDeps = {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Bytes of the copy so far, and about how many it will have. */
  onProgress(bytes: number, ofBytes: number): void
  onStep?(step: CompactionStep): void
}

type Contents = {
  readonly heads: StoredHeads | undefined
  readonly sequence: number
  readonly genesis: BlockId | undefined
  readonly rows: readonly (readonly [string, number])[]
}

/**
 * Compacts the chain's database of a stopped node. Its journal is not touched.
 * @returns sizes of the file; undefined when aborted
 * @throws Fault DATABASE_MISSING, COPY_DIFFERS, and those of `compactEnvironment`
 */
export async function compactDatabase(deps: CompactDeps, datadir: string): ReturnType<typeof compactEnvironment> {
  const dir = chainDir(datadir)
  requireDatabase(datadir)
  const check = async (copyDir: string): Promise<void> => {
    // the lock is held: no transaction has changed the original since the copy
    const [original, copy] = [await contentsOf(dir), await contentsOf(copyDir)]
    if (JSON.stringify(copy) !== JSON.stringify(original)) throw databaseFault('COPY_DIFFERS', { dir: copyDir })
  }
  return compactEnvironment(dir, Object.values(tables), { ...deps, check })
}

/** Returns labels and number of rows by table. */
async function contentsOf(dir: string): Promise<Contents> {
  await using source = openLmdbReader(dir, Object.values(tables))
  using reader = source.snapshot()
  const { tables: counted } = environmentStats(dir)
  const rows = counted.map(({ name, rows: count }) => [name, count] as const)
  return { heads: readHeads(reader), sequence: readHeadsSequence(reader), genesis: readGenesisId(reader), rows }
}
