import type { RollupConfig } from '#chain/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SingularCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'

export type Forced = { readonly kind: 'none' | 'next-epoch' } | { readonly kind: 'batch'; readonly batch: SingularCandidate }

/**
 * The empty batch that stands in when the sequencing window of the epoch went by without one; `next-epoch`: this epoch is full.
 * @param epochs consecutive L1 blocks, the first of them the current epoch
 * @param reading the L1 block being read, and whether all its batches are known
 * @see specs protocol/derivation.md, "Batch Queue", the last paragraphs
 */
export function forceBatch(
  config: RollupConfig,
  epochs: readonly L1Ref[],
  safe: L2Ref,
  reading: { readonly number: number; readonly isDrained: boolean },
): Forced {
  const [epoch, nextEpoch] = epochs
  if (epoch === undefined || nextEpoch === undefined) return { kind: 'none' }
  const windowEnd = epoch.number + config.sequencingWindowBlocks
  const hasExpired = windowEnd < reading.number || (windowEnd === reading.number && reading.isDrained)
  if (!hasExpired) return { kind: 'none' }
  const timestamp = nextTimestamp(config, safe)
  const isFirstOfEpoch = epoch.number === safe.l1Origin.number + 1
  if (timestamp >= nextEpoch.timestamp && !isFirstOfEpoch) return { kind: 'next-epoch' }
  return {
    kind: 'batch',
    batch: { kind: 'singular', parentHash: safe.hash, epochNumber: epoch.number, epochHash: epoch.hash, timestamp, transactions: [] },
  }
}
