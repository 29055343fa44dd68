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

/** Returns the last recorded block that is canonical in a snapshot of the chain; undefined: none is. */
function lastShared(proofs: KvReader, chain: KvReader, head: number): number | undefined {
  const regions = joined(readRegions(proofs))
  const [oldest, newest] = [regions[0], regions.at(-1)]
  if (!oldest || !newest) return undefined
  for (let number = Math.min(newest.last, head); number >= oldest.first - 1; number--) {
    if (readCanonicalHash(proofs, number) === readCanonicalHash(chain, number)) return number
  }
  return undefined
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
