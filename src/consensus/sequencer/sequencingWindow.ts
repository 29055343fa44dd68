import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockId } from '#types/blockRef'

/** Of the sequencing window: what is left belongs to the batcher. */
const [numerator, denominator] = [3, 4]

/**
 * Whether so much of an origin's sequencing window is over that batches on it may come too late: derivation then fills it with blocks of deposits
 * alone, and only such blocks stay. After a stop of hours a chain goes on from there. Pure.
 * @see specs protocol/derivation.md, "Batch Queue", the rule on sequence_window_size
 */
export function isWindowEnding({ sequencingWindowBlocks }: RollupConfig, origin: BlockId, l1Head: BlockId | undefined): boolean {
  return l1Head !== undefined && (l1Head.number - origin.number) * denominator > sequencingWindowBlocks * numerator
}
