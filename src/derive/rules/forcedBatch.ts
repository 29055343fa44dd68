import type { RollupConfig } from '#chain/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SingularCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'

/** The L1 block being read, and whether all its batches are known. */
type Reading = { readonly number: number; readonly isDrained: boolean }

/** Consecutive L1 blocks, the first of them the current epoch. */
type EpochWindow = { readonly blocks: readonly L1Ref[]; dropFirst(): void }

const hasExpired = (config: RollupConfig, epoch: L1Ref, { number, isDrained }: Reading): boolean => {
  const windowEnd = epoch.number + config.sequencingWindowBlocks
  return windowEnd < number || (windowEnd === number && isDrained)
}

/**
 * The empty batch that stands in when the sequencing window of the epoch went by without one. An epoch has its blocks while they lie before
 * the next one's time, but one at least; one that has them all is left.
 * @returns undefined: the window is open still
 * @see specs protocol/derivation.md, "Batch Queue", the last paragraphs
 */
export function forceBatch(config: RollupConfig, epochs: EpochWindow, safe: L2Ref, reading: Reading): SingularCandidate | undefined {
  const timestamp = nextTimestamp(config, safe)
  for (;;) {
    const [epoch, nextEpoch] = epochs.blocks
    if (epoch === undefined || nextEpoch === undefined || !hasExpired(config, epoch, reading)) return undefined
    const isFirstOfEpoch = epoch.number === safe.l1Origin.number + 1
    if (timestamp < nextEpoch.timestamp || isFirstOfEpoch) {
      return { kind: 'singular', parentHash: safe.hash, epochNumber: epoch.number, epochHash: epoch.hash, timestamp, transactions: [] }
    }
    epochs.dropFirst()
  }
}
