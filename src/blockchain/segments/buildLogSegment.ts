import type { KvReader, Row, SnapshotSource } from '#store/ports'
import { segmentWith } from '#store/segments/segmentRecords'
import { KeyedSegmentWriter, type SegmentStep } from '#store/segments/segmentWriter'
import { tables } from '#store/tables'
import { canonicalBlock } from '../chainStore.ts'
import { readLogsPruned } from '../logIndex/logIndex.ts'
import { type JoinedBlocks, joinSegments, readSegment, segmentRows, segmentsIn } from '../logIndex/logIndexRows.ts'
import { type BuiltSegments, logWindowAt, type SegmentRequest, usualBounds } from './segmentCut.ts'

const table = tables.logIndex.id
/** Bound of the transactions of a joined segment, with those of its last part: a place has 21 bits. */
const mostTransactions = 2 ** 20

/**
 * Writes the file of the log index that begins at a block. It has whole segments of the table, joined into longer ones, so that a search reads fewer. The
 * file ends before a segment whose last block is in another window of time or would make it longer than the bound of blocks, and with the bound of bytes.
 * Memory: the entries of one joined segment twice, one frame, and 4 bytes a block.
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
  const { dir, genesis, from, upTo, bounds = usualBounds } = request
  using writer = new KeyedSegmentWriter({ dir, table, genesis, onStep })
  const joined = new JoinedSegments(writer, bounds.entries)
  let window: number | undefined
  for (let next = from; joined.rowBytes < bounds.rowBytes; next = joined.end + 1) {
    if (isEnded()) return undefined
    using reader = source.snapshot()
    if (readLogsPruned(reader) > from) return undefined
    const segment = movableFrom(reader, next, upTo)
    if (segment === undefined) break
    const { ends, first } = segment
    const last = first + ends.count - 1
    window ??= logWindowAt(reader, last, bounds)
    if (logWindowAt(reader, last, bounds) !== window || (next > from && last - from >= bounds.blocks)) break
    joined.add(segment)
  }
  if (joined.end < from) return undefined
  joined.finish()
  using reader = source.snapshot()
  return { of: 'logs', last: joined.end, records: [writer.finish(canonicalBlock(reader, from), canonicalBlock(reader, joined.end))] }
}

/** Joins segments, up to a bound of their entries, and writes them: pages at once, block ends after all pages. */
class JoinedSegments {
  readonly #writer: KeyedSegmentWriter
  readonly #mostEntries: number
  readonly #ends: Row[] = []
  #parts: JoinedBlocks[] = []
  #entries = 0
  #transactions = 0
  /** last block of the segments so far */
  end = -1

  constructor(writer: KeyedSegmentWriter, mostEntries = usualBounds.entries) {
    this.#writer = writer
    this.#mostEntries = mostEntries
  }

  /** Size of the pages so far. */
  get rowBytes(): number {
    return this.#writer.rowBytes + 8 * this.#entries
  }

  add(segment: JoinedBlocks): void {
    const { first, ends, entries } = segment
    const transactions = ends.at(ends.count - 1)
    if (this.#entries + entries.length > this.#mostEntries || this.#transactions + transactions > mostTransactions) this.#flush()
    this.#parts.push(segment)
    this.#entries += entries.length
    this.#transactions += transactions
    this.end = first + ends.count - 1
  }

  /** Writes the rest. */
  finish(): void {
    this.#flush()
    for (const { key, value } of this.#ends) this.#writer.add(key, value)
  }

  #flush(): void {
    if (this.#parts.length === 0) return
    let last: Row | undefined
    for (const row of segmentRows(joinSegments(this.#parts))) {
      if (last) this.#writer.add(last.key, last.value)
      last = row
    }
    if (last) this.#ends.push(last)
    this.#parts = []
    this.#entries = 0
    this.#transactions = 0
  }
}

/** Returns the segment in the table that begins at a block, unless it ends above another one or is in a file already. */
function movableFrom(reader: KvReader, first: number, upTo: number): JoinedBlocks | undefined {
  const [segment] = segmentsIn(reader, first)
  if (segment === undefined || segment.last > upTo || segmentWith(reader, table, first)) return undefined
  return readSegment(segment)
}
