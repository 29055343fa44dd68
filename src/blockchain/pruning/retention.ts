import { type Fault, isFault } from '#lib/fault'
import { oldestProof, oldestState } from '#state/chainState'
import type { OldestKept } from '#state/pruneHistory'
import type { KvReader } from '#store/ports'
import { segmentWith } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { ChainDistance, Retention } from '#types/chainDistance'
import { publishedNumber, readCanonicalHash, readHeader, readHeads } from '../chainStore.ts'

/** Least time for which trie nodes are kept: a client may build on any block that is not finalized, and on later ones. */
const leastProofs: ChainDistance = { sec: 3_600 }

/** Called with the fault of each read of a header in a damaged segment file. */
type OnDamaged = (error: Fault) => void

/** Returns a callback that reports the first fault of each segment file. */
export function oncePerFile(report: OnDamaged): OnDamaged {
  const paths = new Set<unknown>()
  return (error) => {
    const { path } = error.data
    if (paths.has(path)) return
    paths.add(path)
    report(error)
  }
}

/** Returns the oldest blocks to keep under a retention. Blocks from the finalized one on are kept. */
export function oldestKept(reader: KvReader, { history, proofs }: Retention, onDamaged?: OnDamaged): OldestKept {
  const heads = readHeads(reader)
  if (heads === undefined) return { values: 0, nodes: 0 }
  const head = publishedNumber(heads)
  const oldest = (distance: ChainDistance | 'all', from: number): number => blockBefore(reader, head, distance, from, onDamaged)
  const least = oldest(leastProofs, oldestProof(reader))
  const wanted = proofs && oldest(proofs, oldestProof(reader))
  const values = Math.min(heads.finalized.number, oldest(history, oldestState(reader)))
  const nodes = Math.min(heads.finalized.number, least, wanted ?? least)
  return { values, nodes: Math.max(values, nodes) }
}

/**
 * Returns the oldest block that is at most a distance before the head. Where headers are in a damaged segment file, it may return an earlier block, at the
 * earliest the first of these or `from`.
 * @param from result for a distance beyond it
 */
export function blockBefore(
  reader: KvReader,
  head: number,
  distance: ChainDistance | 'all',
  from: number,
  onDamaged: OnDamaged = () => {},
): number {
  if (distance === 'all') return from
  if ('blocks' in distance) return Math.max(0, head - distance.blocks)
  const headSec = timestampAt(reader, head, onDamaged)
  if (headSec === undefined) return from
  const fromSec = headSec - distance.sec
  let [low, high] = [from, head]
  while (low < high) {
    const middle = (low + high) >> 1
    const probe = readableFrom(reader, middle, high, onDamaged)
    if (probe && probe.timestamp < fromSec) low = probe.number + 1
    else high = middle
  }
  return low
}

/** Returns the first block of a range whose header is not in a damaged segment file. */
function readableFrom(
  reader: KvReader,
  from: number,
  to: number,
  onDamaged: OnDamaged,
): { readonly number: number; readonly timestamp: number } | undefined {
  for (let number = from; number < to; number = (segmentWith(reader, tables.headers.id, number)?.last ?? number) + 1) {
    const timestamp = timestampAt(reader, number, onDamaged)
    if (timestamp !== undefined) return { number, timestamp }
  }
  return undefined
}

/** Returns the timestamp of a block; undefined when it is in a damaged segment file. */
function timestampAt(reader: KvReader, number: number, onDamaged: OnDamaged): number | undefined {
  const hash = readCanonicalHash(reader, number)
  try {
    const header = hash && readHeader(reader, { number, hash })
    // a block without a header counts as too old
    return header?.timestamp ?? 0
  } catch (error) {
    if (!isFault(error, 'SEGMENT_DAMAGED')) throw error
    onDamaged(error)
    return undefined
  }
}
