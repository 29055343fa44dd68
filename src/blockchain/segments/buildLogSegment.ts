import type { KvReader, SnapshotSource } from '#store/ports'
import { segmentWith } from '#store/segments/segmentRecords'
import { KeyedSegmentWriter, type SegmentStep } from '#store/segments/segmentWriter'
import { tables } from '#store/tables'
import { readLogsPruned } from '../logIndex/logIndex.ts'
import { type BlockRange, rowRange, type Segment, segmentsIn } from '../logIndex/logIndexRows.ts'
import { type BuiltSegments, blockAt, logWindowAt, type SegmentRequest, usualBounds } from './segmentCut.ts'

const table = tables.logIndex.id
/** Rows of block ends read on one snapshot. */
const endsAtOnce = 256

/**
 * Writes the file of the log index that begins at a block: the rows of whole segments as the table has them, first the pages of all, then the block ends. It
 * ends before a segment whose last block is in another window of time or would make it longer than the bound of blocks, and with the bound of bytes.
 * Memory: one frame, and the range of each segment.
 * @param isEnded called for each segment; true ends the work
 * @returns undefined when ended, or when retention has begun to remove the segments
 * @throws as `buildSegments`
 */
export function buildLogSegment(
  source: Pick<SnapshotSource, 'snapshot'>,
  request: SegmentRequest,
  isEnded: () => boolean,
  onStep: ((step: SegmentStep) => void) | undefined,
): BuiltSegments | undefined {
  const { dir, genesis, from } = request
  using writer = new KeyedSegmentWriter({ dir, table, genesis, onStep })
  const segments = writePages(source, writer, request, isEnded)
  const last = segments?.at(-1)?.last
  if (segments === undefined || last === undefined || !writeEnds(source, writer, request, segments)) return undefined
  using reader = source.snapshot()
  return { of: 'logs', last, records: [writer.finish(blockAt(reader, from), blockAt(reader, last))] }
}

/** Writes the pages of the segments of the file. @returns these; undefined when ended */
function writePages(
  source: Pick<SnapshotSource, 'snapshot'>,
  writer: KeyedSegmentWriter,
  { from, upTo, bounds = usualBounds }: SegmentRequest,
  isEnded: () => boolean,
): readonly BlockRange[] | undefined {
  const segments: BlockRange[] = []
  let window: number | undefined
  for (let next = from; writer.rowBytes < bounds.rowBytes; ) {
    if (isEnded()) return undefined
    using reader = source.snapshot()
    if (readLogsPruned(reader) > from) return undefined
    const segment = movableFrom(reader, next, upTo)
    if (segment === undefined || (segments.length > 0 && segment.last - from >= bounds.blocks)) break
    window ??= logWindowAt(reader, segment.last, bounds)
    if (logWindowAt(reader, segment.last, bounds) !== window) break
    for (const { key, value } of reader.range(table, rowRange('page', segment.first, segment.first + 1))) writer.add(key, value)
    segments.push({ first: segment.first, last: segment.last })
    next = segment.last + 1
  }
  return segments
}

/** Writes the block ends of segments. @returns false when retention has begun to remove them */
function writeEnds(
  source: Pick<SnapshotSource, 'snapshot'>,
  writer: KeyedSegmentWriter,
  { from }: SegmentRequest,
  segments: readonly BlockRange[],
): boolean {
  for (let at = 0; at < segments.length; at += endsAtOnce) {
    using reader = source.snapshot()
    if (readLogsPruned(reader) > from) return false
    for (const { last } of segments.slice(at, at + endsAtOnce)) {
      for (const { key, value } of reader.range(table, rowRange('segment', last, last + 1))) writer.add(key, value)
    }
  }
  return true
}

/** Returns the segment in the table that begins at a block, unless it ends above another one or is in a file already. */
function movableFrom(reader: KvReader, first: number, upTo: number): Segment | undefined {
  const [segment] = segmentsIn(reader, first)
  if (segment === undefined || segment.last > upTo || segmentWith(reader, table, first)) return undefined
  return segment
}
