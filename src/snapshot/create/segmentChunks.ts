import { buildSegments } from '#blockchain/segments/buildSegments'
import { usualBounds } from '#blockchain/segments/segmentCut'
import { segmentsDir } from '#store/chainTables'
import { blockTables, readPruned, type SegmentRecord, segmentWith } from '#store/segments/segmentRecords'
import { snapshotFault } from '../faults.ts'
import type { ChunkEntry } from '../format/manifest.ts'
import type { BlockSource } from './blockChunks.ts'

/**
 * Adds the segment files of the blocks below a block, down to genesis, newest first. Those of the chain are added as they are; blocks that have not moved to
 * files, or are in a file with later ones, get files of their own.
 * @param chainDir directory of the chain's tables
 * @param blocks of a file that is written, at most
 * @returns undefined when the signal ended it
 * @throws Fault HISTORY_INCOMPLETE, SEGMENT_DAMAGED, CHAIN_STORE_DAMAGED (fatal), SNAPSHOT_UNWRITABLE, DISK_FULL (retry)
 */
export async function segmentChunks(
  { source, files, config }: BlockSource,
  { chainDir, blocks }: { readonly chainDir: string; readonly blocks: number | undefined },
  below: number,
  signal: AbortSignal,
): Promise<readonly ChunkEntry[] | undefined> {
  const { genesis } = config
  const entries: ChunkEntry[] = []
  let next = genesis.l2.number
  for (const records of movedBefore(source, next, below)) {
    for (const record of records) entries.push(files.addSegment(segmentsDir(chainDir), record))
    next = (records[0]?.last ?? next) + 1
    await new Promise((resolve) => setImmediate(resolve))
    if (signal.aborted) return undefined
  }
  // whatever the time of the blocks: no file of the chain has them
  const bounds = { ...usualBounds, windowSec: Number.POSITIVE_INFINITY, ...(blocks !== undefined && { blocks }) }
  using scratch = files.scratch()
  while (next < below) {
    requireWholeAt(source, next)
    const request = {
      of: 'blocks',
      genesis: genesis.l2.hash,
      from: next,
      upTo: below - 1,
      endsAt: 'upTo',
      dir: scratch.dir,
      bounds,
    } as const
    const built = buildSegments(source, request, () => signal.aborted)
    if (built === undefined) return undefined
    for (const record of built.records) entries.push(files.takeSegment(scratch.dir, record))
    next = built.last + 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  return entries.reverse()
}

/** Iterates over the ranges of blocks that all tables of blocks have in files, as far as they follow each other and end before a block. */
function* movedBefore(source: BlockSource['source'], from: number, below: number): Generator<readonly SegmentRecord[]> {
  for (let next = from; ; ) {
    const records = recordsFrom(source, next)
    const last = records?.[0]?.last ?? below
    if (records === undefined || last >= below) return
    yield records
    next = last + 1
  }
}

function recordsFrom(source: BlockSource['source'], first: number): readonly SegmentRecord[] | undefined {
  using reader = source.snapshot()
  const records = blockTables.map(({ id }) => segmentWith(reader, id, first))
  const last = records[0]?.last
  return records.every((record) => record?.first === first && record.last === last) ? (records as SegmentRecord[]) : undefined
}

/** @throws Fault HISTORY_INCOMPLETE when a part of a block is pruned */
function requireWholeAt(source: BlockSource['source'], number: number): void {
  using reader = source.snapshot()
  if (blockTables.some(({ id }) => readPruned(reader, id) > number)) throw snapshotFault('HISTORY_INCOMPLETE', { number })
}
