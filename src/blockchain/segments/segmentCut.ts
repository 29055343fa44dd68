import { executionFault } from '#block/faults'
import type { KvReader } from '#store/ports'
import { readMoved, type SegmentRecord, segmentWith, unlessDamaged } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { canonicalBlock, readGenesisId, readHeader, readHeads } from '../chainStore.ts'
import { readIndexMark, readLogsPruned } from '../logIndex/logIndex.ts'
import { lowestSegment } from '../logIndex/logIndexRows.ts'

/**
 * Bounds of a segment file: blocks, bytes of the rows of one table, and windows of the blocks' time: a file ends where a window does. `entries`: of a
 * segment of the log index in a file, 8 bytes each, which is built in memory.
 */
export type SegmentBounds = { readonly blocks: number; readonly rowBytes: number; readonly windowSec: number; readonly entries?: number }
export const usualBounds: Required<SegmentBounds> = { blocks: 8_192, rowBytes: 512 * 2 ** 20, windowSec: 3_600, entries: 2 ** 20 }

/** Blocks to move, from `from` to the cut, which is at most at `upTo`. All of them are canonical and finalized. */
type SegmentChoice = {
  /** rows of the blocks, or segments of the log index, whose last blocks decide on the cut */
  readonly of: 'blocks' | 'logs'
  readonly genesis: Hash
  readonly from: number
  readonly upTo: number
}

export type SegmentRequest = SegmentChoice & {
  readonly dir: string
  /** absent: the usual ones, so that all nodes have the same files */
  readonly bounds?: SegmentBounds | undefined
  /** `upTo`: files of blocks end there, unless a bound is reached before; absent: only at a bound */
  readonly endsAt?: 'upTo'
}

/** Complete files of the blocks up to `last`, one for each table of blocks or one of the log index, which no row records yet. */
export type BuiltSegments = Pick<SegmentRequest, 'of'> & { readonly last: number; readonly records: readonly SegmentRecord[] }

/** Returns the window of time of a block. @throws Fault CHAIN_STORE_DAMAGED without a header; SEGMENT_DAMAGED */
function windowAt(reader: KvReader, number: number, bounds: SegmentBounds): number {
  return windowOf(headerAt(reader, number).timestamp, bounds)
}

export const windowOf = (timestamp: number, { windowSec }: SegmentBounds): number => Math.floor(timestamp / windowSec)

/** @throws as `windowAt` */
export function headerAt(reader: KvReader, number: number): BlockId & { readonly timestamp: number } {
  const id = canonicalBlock(reader, number)
  const header = readHeader(reader, id)
  if (header === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `the header of block ${number}` })
  return { ...id, timestamp: header.timestamp }
}

/** Returns the window of time of a block for the cut of the log index. Blocks whose header is in a damaged file share one window. */
export function logWindowAt(reader: KvReader, number: number, bounds: SegmentBounds): number {
  return unlessDamaged(() => windowAt(reader, number, bounds)) ?? 0
}

/** Returns the blocks of the next files, rows of blocks first; undefined while no range is whole. */
export function nextSegments(reader: KvReader, bounds: SegmentBounds = usualBounds): SegmentChoice | undefined {
  const [heads, genesis] = [readHeads(reader), readGenesisId(reader)]
  if (heads === undefined || genesis === undefined) return undefined
  const upTo = heads.finalized.number
  const from = Math.max(genesis.number, readMoved(reader))
  if (isWhole(reader, from, upTo, bounds)) return { of: 'blocks', genesis: genesis.hash, from, upTo }
  const logsFrom = nextLogs(reader, genesis.number, upTo, bounds)
  return logsFrom === undefined ? undefined : { of: 'logs', genesis: genesis.hash, from: logsFrom, upTo: readMoved(reader) - 1 }
}

/** Returns whether a segment that begins at a block ends at or before another block. */
function isWhole(reader: KvReader, from: number, upTo: number, bounds: SegmentBounds): boolean {
  if (upTo < from) return false
  return upTo - from + 1 >= bounds.blocks || windowAt(reader, from, bounds) !== windowAt(reader, upTo, bounds)
}

/**
 * Returns the first block of the next file of the log index. Its blocks have moved before, so that no transaction unwinds them. While older blocks are being
 * indexed, nothing moves: the file would have few of them.
 */
function nextLogs(reader: KvReader, genesis: number, finalized: number, bounds: SegmentBounds): number | undefined {
  const [mark, retained, moved] = [readIndexMark(reader), readLogsPruned(reader), readMoved(reader)]
  if (mark === undefined || mark.from > Math.max(genesis, retained)) return undefined
  const lowest = lowestSegment(reader, retained)
  if (lowest === undefined || lowest.first < retained || lowest.last >= moved) return undefined
  if (segmentWith(reader, tables.logIndex.id, lowest.first)) return undefined
  const isFull = moved - lowest.first >= bounds.blocks
  return isFull || logWindowAt(reader, lowest.last, bounds) !== logWindowAt(reader, finalized, bounds) ? lowest.first : undefined
}
