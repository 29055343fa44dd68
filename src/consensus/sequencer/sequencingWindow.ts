import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockId } from '#types/blockRef'

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
