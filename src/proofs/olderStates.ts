import { readCanonicalHash } from '#blockchain/chainStore'
import type { OlderStates, RecordedStates } from '#blockchain/view/olderStates'
import { oldestProof } from '#state/chainState'
import { readDigests } from '#state/digests/digests'
import { HistoricalRows } from '#state/history'
import type { HistoryCache } from '#state/historyCache'
import { rowState } from '#state/rowState'
import { latestRows, type StateRows } from '#state/rows'
import type { WorldState } from '#state/worldState'
import type { KvReader, SnapshotSource } from '#store/ports'
import { openProofsReader } from '#store/proofsTables'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { ProofRows } from './proofRows.ts'
import { joined, readRegions } from './regions.ts'

/** Returns whether the chain has another block at the number of a recorded one. Before its first block, and after its head, it has none. */
export function isReplaced(proofs: KvReader, chain: KvReader, number: number): boolean {
  const hash = readCanonicalHash(chain, number)
  return hash !== undefined && hash !== readCanonicalHash(proofs, number)
}

/**
 * Returns the last recorded block that is canonical in a snapshot of the chain; undefined: none is. Costs one comparison while that is the newest one, else
 * a bisection: no block before a shared one is replaced.
 */
function lastShared(proofs: KvReader, chain: KvReader, head: number): number | undefined {
  const regions = joined(readRegions(proofs))
  const [oldest, newest] = [regions[0], regions.at(-1)]
  if (!oldest || !newest) return undefined
  let [low, high] = [oldest.first - 1, Math.min(newest.last, head)]
  if (high < low) return undefined
  for (let middle = high; low < high; middle = (low + high + 1) >> 1) {
    if (isReplaced(proofs, chain, middle)) high = middle - 1
    else low = middle
  }
  const hash = readCanonicalHash(chain, high)
  return hash !== undefined && hash === readCanonicalHash(proofs, high) ? high : undefined
}

/** Returns the states that the recorded blocks and a snapshot of the chain have together. @param head of the chain */
export function recordedStates(
  proofs: KvReader,
  chain: KvReader,
  head: number,
  cache: HistoryCache,
): Pick<RecordedStates, 'window' | 'at'> {
  const regions = joined(readRegions(proofs))
  const last = lastShared(proofs, chain, head)
  // without the nodes of the last recorded block the older ones cannot be computed
  const isReadable = last !== undefined && (last === head || last >= oldestProof(chain))
  const window = isReadable && regions[0] ? { earliest: regions[0].first - 1, latest: last } : undefined
  return {
    window,
    at(number: number, blockHash: (number: number) => Hash | undefined): WorldState {
      if (!window || number < window.earliest || number > window.latest) throw new RangeError(`no recorded state of block ${number}`)
      const { latest } = window
      const base: StateRows = latest === head ? latestRows(chain) : new HistoricalRows(chain, latest, head, cache)
      const blocks = { reader: proofs, regions, digests: readDigests(proofs), upTo: latest }
      return rowState(new ProofRows(blocks, number, base, cache), chain, blockHash)
    },
  }
}

/**
 * Opens the recorded states for views in this thread.
 * @param dir of the proofs, which the recorder of this process has open
 */
export function openOlderStates(dir: string): OlderStates & AsyncDisposable {
  const source: SnapshotSource = openProofsReader(dir)
  return {
    open(chain, { number }: BlockId, cache): RecordedStates {
      const proofs = source.snapshot()
      return { ...recordedStates(proofs, chain, number, cache), [Symbol.dispose]: () => proofs[Symbol.dispose]() }
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  }
}
