import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readCanonicalHash, readGenesisId, readHead, readHeader } from '#blockchain/chainStore'
import { journalDir, poolJournalDir } from '#executionThread/wire/protocol'
import { u64FromBytes } from '#lib/bytes'
import { oldestProof, oldestState } from '#state/chainState'
import { type EnvironmentStats, environmentStats, type TableStats } from '#store/environmentStats'
import { freeBytes } from '#store/freeSpace'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { chainDir, consensusDir, dataFile, openChain } from './openChain.ts'

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

/** A table with rows for each block. `basis` says how `bytesPerDay` was computed. */
type TableGrowth = { readonly table: string; readonly bytesPerBlock: number; readonly bytesPerDay: number; readonly basis: string }

export type DatadirStats = {
  readonly chain: EnvironmentStats
  /** Undefined in a data directory of the execution half alone. */
  readonly consensus: EnvironmentStats | undefined
  readonly journals: readonly { readonly name: string; readonly bytes: number }[]
  readonly blocks: BlockStats
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

const secondsPerDay = 86_400

/**
 * Returns sizes, blocks and growth of a data directory. Reads counters and a few rows, whatever the size, and works beside a running node.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, DATADIR_DAMAGED, SCHEMA_NEWER
 */
export async function datadirStats(datadir: string): Promise<DatadirStats> {
  const dir = chainDir(datadir)
  await using source = await openChain(datadir)
  // held until the counters are read: a writer does not reuse pages of the transactions after it
  using reader = source.snapshot()
  const chain = environmentStats(dir)
  const blocks = blockStats(reader, chain)
  const growth = growthOf(chain, blocks, readGenesisId(reader)?.number ?? 0)
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
    growth,
    bytesPerDay,
    diskFreeBytes,
    daysUntilFull: bytesPerDay > 0 ? (diskFreeBytes + chain.freeBytes) / bytesPerDay : undefined,
    basis:
      'blocks per day: times of the blocks after the oldest state. Days until full: free space of the file system and free pages of the chain, over ' +
      'bytes per day. Accounts, slots, trie nodes and code are not in it: their growth is not recorded',
  }
}

function folderBytes(dir: string): number {
  if (!existsSync(dir)) return 0
  // a running node may remove a segment meanwhile
  return readdirSync(dir).reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

const tableOf = ({ tables }: EnvironmentStats, wanted: string): TableStats =>
  tables.find(({ name }) => name === wanted) ?? { name: wanted, rows: 0, bytes: 0 }

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

function blocksPerDay(reader: KvReader, first: number, head: number): number | undefined {
  const [start, end] = [first, head].map((number) => {
    const hash = readCanonicalHash(reader, number)
    return hash && readHeader(reader, { number, hash })?.timestamp
  })
  return start !== undefined && end !== undefined && end > start ? ((head - first) * secondsPerDay) / (end - start) : undefined
}

/** Returns the growth of the tables that have rows for each block. Tables whose old rows are pruned do not grow. */
function growthOf(chain: EnvironmentStats, { head, oldestState: oldest, oldestProof, perDay }: BlockStats, genesis: number): TableGrowth[] {
  if (perDay === undefined) return []
  const of = (names: readonly string[], blocks: number, basis: string): TableGrowth[] =>
    names.map((table) => {
      const bytesPerBlock = blocks > 0 ? tableOf(chain, table).bytes / blocks : 0
      return { table, bytesPerBlock, bytesPerDay: bytesPerBlock * perDay, basis: `bytes / ${blocks} ${basis} × blocks per day` }
    })
  return [
    ...['headers', 'bodies', 'receipts', 'canonical', 'blockByHash'].flatMap((name) => of([name], tableOf(chain, name).rows, 'rows')),
    ...of(['txByHash'], tableOf(chain, 'bodies').rows, 'stored bodies'),
    ...of(['logIndex'], tableOf(chain, 'receipts').rows, 'blocks with receipts'),
    ...(oldest > genesis ? [] : of(['changes', 'historyIndex'], head - oldest, 'blocks after the oldest state')),
    ...(oldestProof > genesis ? [] : of(['nodeHistory'], head - oldest, 'blocks after the oldest state')),
  ]
}
