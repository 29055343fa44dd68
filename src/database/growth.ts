import { readCanonicalHash, readHeader } from '#blockchain/chainStore'
import { readIndexMark, readLogsPruned } from '#blockchain/logIndex/logIndex'
import { addedRows } from '#state/addedRows'
import type { EnvironmentStats, TableStats } from '#store/environmentStats'
import type { KvReader } from '#store/ports'
import { blockTables, readPruned, segmentsOf, segmentTables } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'

/** A table that grows with the chain. `basis` says how `bytesPerDay` was computed. */
export type TableGrowth = { readonly table: string; readonly bytesPerBlock: number; readonly bytesPerDay: number; readonly basis: string }

/** Segment files with rows of a table, of the blocks from `first` to `last`. */
export type SegmentStats = {
  readonly table: string
  readonly files: number
  readonly first: number
  readonly last: number
  readonly fileBytes: number
  /** Size of their rows, uncompressed. */
  readonly rowBytes: number
}

/** Inputs of the growth computation. Block numbers, except sizes; `perDay`: blocks per day, if known. */
export type GrowthFacts = {
  readonly chain: EnvironmentStats
  readonly segments: readonly SegmentStats[]
  readonly genesis: number
  /** block on which the state began: genesis, or that of a snapshot */
  readonly base: number
  readonly head: number
  readonly oldestState: number
  readonly oldestProof: number
  readonly perDay: number | undefined
}

const secondsPerDay = 86_400
/** Blocks whose new accounts and slots are counted: some 600 reads each. */
const sampledBlocks = 32

/** Sums the records of segment files by table. */
export function segmentStats(reader: KvReader): SegmentStats[] {
  return segmentTables.flatMap(({ id, name }) => {
    const records = [...segmentsOf(reader, id)]
    const sum = (of: (record: (typeof records)[number]) => number): number => records.reduce((total, record) => total + of(record), 0)
    const [oldest, newest] = [records[0], records.at(-1)]
    if (oldest === undefined || newest === undefined) return []
    const sizes = { fileBytes: sum(({ fileBytes }) => fileBytes), rowBytes: sum(({ rowBytes }) => rowBytes) }
    return [{ table: name, files: records.length, first: oldest.first, last: newest.last, ...sizes }]
  })
}

/** Returns blocks per day between two blocks; undefined when their times are equal or unknown. */
export function blocksPerDay(reader: KvReader, first: number, head: number): number | undefined {
  const [start, end] = [first, head].map((number) => {
    const hash = readCanonicalHash(reader, number)
    return hash && readHeader(reader, { number, hash })?.timestamp
  })
  return start !== undefined && end !== undefined && end > start ? ((head - first) * secondsPerDay) / (end - start) : undefined
}

export const tableOf = ({ tables: of }: EnvironmentStats, wanted: string): TableStats =>
  of.find(({ name }) => name === wanted) ?? { name: wanted, rows: 0, bytes: 0 }

/**
 * Returns the growth of each table that grows. Tables whose old rows are pruned do not; the rows that a snapshot left out were not pruned. While older blocks
 * of a snapshot are pruned, the rate is still named: it is too high then, never too low.
 */
export function growthOf(reader: KvReader, facts: GrowthFacts): TableGrowth[] {
  return facts.perDay === undefined ? [] : [...blockGrowth(reader, facts), ...historyGrowth(facts), ...stateGrowth(reader, facts)]
}

function growth(facts: GrowthFacts, table: string, bytesPerBlock: number, basis: string): TableGrowth {
  return { table, bytesPerBlock, bytesPerDay: bytesPerBlock * (facts.perDay ?? 0), basis: `${basis} × blocks per day` }
}

/** Returns the growth of a table with rows of some blocks. */
function perBlock(facts: GrowthFacts, table: string, blocks: number, basis: string): TableGrowth {
  return growth(facts, table, blocks > 0 ? tableOf(facts.chain, table).bytes / blocks : 0, `bytes / ${blocks} ${basis}`)
}

/** Returns the growth of the rows of blocks. Rows that move to segment files grow there, because later blocks use their pages. */
function blockGrowth(reader: KvReader, facts: GrowthFacts): TableGrowth[] {
  const { head, genesis, base, segments } = facts
  /** a snapshot may have no body of its block */
  const isPruned = (first: number): boolean => first > Math.max(genesis, base + 1)
  const grown = ['canonical', 'blockByHash'].map((table) => perBlock(facts, table, tableOf(facts.chain, table).rows, 'rows'))
  const movable = (name: string, inTable: () => TableGrowth): TableGrowth => {
    const files = segments.find(({ table }) => table === name)
    const blocks = files && files.last - files.first + 1
    return files && blocks !== undefined
      ? growth(facts, name, files.fileBytes / blocks, `bytes of segment files / ${blocks} blocks in them`)
      : inTable()
  }
  for (const { id, name } of blockTables) {
    if (isPruned(readPruned(reader, id))) continue
    grown.push(movable(name, () => perBlock(facts, name, tableOf(facts.chain, name).rows, 'rows')))
  }
  const firstBody = Math.max(genesis, readPruned(reader, tables.bodies.id))
  if (!isPruned(firstBody)) grown.push(perBlock(facts, 'txByHash', head - firstBody + 1, 'stored bodies'))
  const firstLogs = Math.max(genesis, readIndexMark(reader)?.from ?? 0, readLogsPruned(reader))
  if (!isPruned(readLogsPruned(reader)))
    grown.push(movable('logIndex', () => perBlock(facts, 'logIndex', head - firstLogs + 1, 'indexed blocks')))
  return grown
}

function historyGrowth(facts: GrowthFacts): TableGrowth[] {
  const { head, oldestState, oldestProof, base } = facts
  const blocks = head - oldestState
  const of = (table: string): TableGrowth => perBlock(facts, table, blocks, 'blocks after the oldest state')
  return [...(oldestState > base ? [] : ['changes', 'historyIndex']), ...(oldestProof > base ? [] : ['nodeHistory'])].map(of)
}

/** Returns the growth of accounts and slots from a sample of blocks, and of their trie nodes in the same proportion. */
function stateGrowth(reader: KvReader, facts: GrowthFacts): TableGrowth[] {
  const { chain, head, oldestState } = facts
  const sample = sampleOf(oldestState + 1, head)
  const added = sample.map((number) => addedRows(reader, number))
  const of = (table: string, rowsTable: string, newRows: number): TableGrowth => {
    const { rows } = tableOf(chain, rowsTable)
    const bytesPerRow = rows > 0 ? tableOf(chain, table).bytes / rows : 0
    const basis = `new rows of ${rowsTable} in ${sample.length} sampled blocks × bytes / ${rows} rows`
    return growth(facts, table, (Math.max(0, newRows) * bytesPerRow) / sample.length, basis)
  }
  const [accounts, slots] = [added.reduce((sum, rows) => sum + rows.accounts, 0), added.reduce((sum, rows) => sum + rows.slots, 0)]
  return [
    of('accounts', 'accounts', accounts),
    of('accountNodes', 'accounts', accounts),
    of('storage', 'storage', slots),
    of('storageNodes', 'storage', slots),
  ]
}

/** Returns block numbers at equal distances, the last block among them. */
function sampleOf(first: number, last: number): number[] {
  const blocks = last - first + 1
  const count = Math.min(sampledBlocks, blocks)
  return Array.from({ length: count }, (_, at) => last - Math.floor((at * blocks) / count))
}
