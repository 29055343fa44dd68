import { timestampOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { isBeyondDrift } from '#derive/sequencing'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'

/** Origin of the next block. `none`: no block can be built until L1 advances, or until derivation has dropped the blocks on a replaced L1 block. */
export type OriginPlan = { readonly kind: 'stay' } | { readonly kind: 'next' } | { readonly kind: 'none'; readonly reason: string }

/**
 * Chooses the L1 origin of the block after `parent`: the next L1 block as soon as its time allows. A block beyond the sequencer drift is valid only
 * if it takes the next origin, or if that origin is later than the block; while the next L1 block is unknown, no block can be built. Pure.
 * @param current the parent's origin
 * @param next the L1 block after it; undefined: not there, or not confirmed
 * @see specs protocol/derivation.md, "Batch Queue", the rule on max_sequencer_drift
 */
export function planOrigin(config: RollupConfig, parent: L2Ref, current: L1Ref, next: L1Ref | undefined): OriginPlan {
  if (next !== undefined && next.parentHash !== current.hash) {
    return { kind: 'none', reason: `L1 block ${next.number} does not follow the origin, ${current.hash}` }
  }
  if (next !== undefined && next.timestamp <= timestampOf(config, parent.number + 1)) return { kind: 'next' }
  if (next !== undefined || !isBeyondDrift(config, parent, current)) return { kind: 'stay' }
  return { kind: 'none', reason: `it is beyond the sequencer drift of L1 block ${current.number}, and the next L1 block is unknown` }
}

/** Part of the sequencing window that the sequencer uses; the rest is left to the batcher. */
const [numerator, denominator] = [3, 4]

/**
 * Returns whether the sequencing window of an origin is so close to its end that batches may be included too late. Derivation then fills the window
 * with blocks of deposits alone, and only such blocks remain. After a stop of hours the chain continues from there. Pure.
 * @see specs protocol/derivation.md, "Batch Queue", the rule on sequence_window_size
 */
export function isWindowEnding({ sequencingWindowBlocks }: RollupConfig, origin: BlockId, l1Head: BlockId | undefined): boolean {
  return l1Head !== undefined && (l1Head.number - origin.number) * denominator > sequencingWindowBlocks * numerator
}
