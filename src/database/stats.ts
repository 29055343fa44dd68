import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readBaseTrust } from '#blockchain/baseTrust'
import { readGenesisId, readHead } from '#blockchain/chainStore'
import { journalDir, poolJournalDir } from '#executionThread/wire/protocol'
import { u64FromBytes } from '#lib/bytes'
import { oldestProof, oldestState } from '#state/chainState'
import { dataFile } from '#store/environmentFiles'
import { type EnvironmentStats, environmentStats } from '#store/environmentStats'
import { freeBytes } from '#store/freeSpace'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { blocksPerDay, growthOf, type SegmentStats, segmentStats, type TableGrowth, tableOf } from './growth.ts'
import { chainDir, consensusDir, openChain } from './openChain.ts'

/** Blocks of a data directory. Numbers are of the committed chain; acknowledged blocks above it are in the journal. */
type BlockStats = {
  readonly head: number
  /** Number of stored blocks. */
  readonly stored: number
  /** Lowest number with a stored block. */
  readonly oldest: number
  /** Lowest number whose state can be read. */
  readonly oldestState: number
  /** Lowest number whose accounts and slots can be proved. */
  readonly oldestProof: number
  /** Undefined with fewer than two blocks after genesis, or when all have one time. */
  readonly perDay: number | undefined
}

export type DatadirStats = {
  readonly chain: EnvironmentStats
  /** Undefined in a data directory of the execution half alone. */
  readonly consensus: EnvironmentStats | undefined
  readonly journals: readonly { readonly name: string; readonly bytes: number }[]
  readonly blocks: BlockStats
  /** Tables without files are absent. */
  readonly segments: readonly SegmentStats[]
  /** Tables that grow with each block. Empty when the number of blocks per day is unknown. */
  readonly growth: readonly TableGrowth[]
  /** Sum of `growth`. */
  readonly bytesPerDay: number
  readonly diskFreeBytes: number
  /** Undefined when nothing grows. */
  readonly daysUntilFull: number | undefined
  /** How `perDay`, `bytesPerDay` and `daysUntilFull` were computed. */
  readonly basis: string
}

/**
 * Returns sizes, blocks and growth of a data directory. Reads counters and the changes of a few blocks, whatever the size, and works beside a running node.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER
 */
export async function datadirStats(datadir: string): Promise<DatadirStats> {
  const dir = chainDir(datadir)
  await using source = await openChain(datadir)
  // held until the counters are read: a writer does not reuse pages of the transactions after it
  using reader = source.snapshot()
  const chain = environmentStats(dir)
  const blocks = blockStats(reader, chain)
  const segments = segmentStats(reader)
  const growth = growthOf(reader, {
    ...blocks,
    chain,
    segments,
    genesis: readGenesisId(reader)?.number ?? 0,
    base: readBaseTrust(reader).block.number,
  })
  const bytesPerDay = growth.reduce((sum, table) => sum + table.bytesPerDay, 0)
  const diskFreeBytes = freeBytes(dir)
  return {
    chain,
    consensus: existsSync(dataFile(consensusDir(datadir))) ? environmentStats(consensusDir(datadir)) : undefined,
    journals: [
      { name: 'blocks', bytes: folderBytes(journalDir(dir)) },
      { name: 'pool', bytes: folderBytes(poolJournalDir(dir)) },
    ],
    blocks,
    segments,
    growth,
    bytesPerDay,
    diskFreeBytes,
    daysUntilFull: bytesPerDay > 0 ? (diskFreeBytes + chain.freeBytes) / bytesPerDay : undefined,
    basis:
      'blocks per day: times of the blocks after the oldest state. Days until full: free space of the file system and free pages of the chain, over ' +
      'bytes per day, segment files included. Code is not in it: its growth is not recorded',
  }
}

function folderBytes(dir: string): number {
  if (!existsSync(dir)) return 0
  // a running node may remove a segment meanwhile
  return readdirSync(dir).reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

function blockStats(reader: KvReader, chain: EnvironmentStats): BlockStats {
  const head = readHead(reader)?.number ?? 0
  const [first] = reader.keys(tables.canonical.id, { limit: 1 })
  const oldest = oldestState(reader)
  return {
    head,
    stored: tableOf(chain, 'canonical').rows,
    oldest: first === undefined ? head : u64FromBytes(first),
    oldestState: oldest,
    oldestProof: oldestProof(reader),
    perDay: blocksPerDay(reader, oldest + 1, head),
  }
}
