import { oldestProof, oldestState } from '#state/chainState'
import type { OldestKept } from '#state/pruneHistory'
import type { KvReader } from '#store/ports'
import type { ChainDistance, Retention } from '#types/chainDistance'
import { readCanonicalHash, readHeader, readHeads } from '../chainStore.ts'

/** Least time for which trie nodes are kept: a client may build on any block that is not finalized, and on later ones. */
const leastProofs: ChainDistance = { sec: 3_600 }

/** Returns the oldest blocks to keep under a retention. Blocks from the finalized one on are kept. */
export function oldestKept(reader: KvReader, { history, proofs }: Retention): OldestKept {
  const heads = readHeads(reader)
  if (heads === undefined) return { values: 0, nodes: 0 }
  const { number: head } = heads.unsafe
  const least = blockBefore(reader, head, leastProofs, oldestProof(reader))
  const wanted = proofs && blockBefore(reader, head, proofs, oldestProof(reader))
  const values = Math.min(heads.finalized.number, blockBefore(reader, head, history, oldestState(reader)))
  const nodes = Math.min(heads.finalized.number, least, wanted ?? least)
  return { values, nodes: Math.max(values, nodes) }
}

/**
 * Returns the oldest block that is at most a distance before the head.
 * @param from result for a distance beyond it
 */
export function blockBefore(reader: KvReader, head: number, distance: ChainDistance | 'all', from: number): number {
  if (distance === 'all') return from
  if ('blocks' in distance) return Math.max(0, head - distance.blocks)
  const fromSec = timestampAt(reader, head) - distance.sec
  let [low, high] = [from, head]
  while (low < high) {
    const middle = (low + high) >> 1
    if (timestampAt(reader, middle) < fromSec) low = middle + 1
    else high = middle
  }
  return low
}

function timestampAt(reader: KvReader, number: number): number {
  const hash = readCanonicalHash(reader, number)
  const header = hash && readHeader(reader, { number, hash })
  // a block without a header counts as too old
  return header?.timestamp ?? 0
}
