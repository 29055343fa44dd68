import type { ReceivedFlashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'

/** Maximum number of pending blocks above the unsafe head. */
export const maxPendingBlocks = 3

/**
 * Why a flashblock was refused. The first three leave the pending blocks as they are; the others drop its block and the blocks above it.
 * - `parent`: the pending block below, once sealed, does not have the hash that the flashblock names as parent
 * - `order`: the newest pending block, or the unsafe head below its block, has changed since the flashblock was placed
 * - `depth`: there would be more than `maxPendingBlocks`
 * - `rules`: the block is invalid there (time, base fee, first transaction …), or too large
 * - `transaction`: one of its transactions is not valid in the block
 * - `outcome`: its gas used differs from that of its execution
 * - `time`: its block exceeds the time (or memory) of a pending block, or gives way to a call of the engine
 */
export type PendingRefusal = 'parent' | 'order' | 'depth' | 'rules' | 'transaction' | 'outcome' | 'time'

export type PendingOutcome =
  /** gas of the whole block so far */
  | { readonly kind: 'taken'; readonly gasUsed: bigint }
  /** text for the log */
  | { readonly kind: 'refused'; readonly reason: PendingRefusal; readonly text: string }

/**
 * Execution of flashblocks. A change is readable when the call returns, and is published with the next record of heads. Pending blocks are lost when
 * the process ends.
 */
export interface PendingPort {
  /**
   * Executes the new transactions of a flashblock and shows the result. Index 0 begins a block on the unsafe head or on a pending block, and replaces
   * the pending blocks that were there. The caller has placed it: it is the next flashblock of the newest pending block, or flashblock 0 of a block on
   * the head or on a pending block.
   * @param after the last executed flashblock when it was placed; refused when that has changed, unless it begins a block on the head
   * @param freshUntilMs wall clock; the pending blocks expire then, unless another flashblock is taken
   */
  take(flashblock: ReceivedFlashblock, after: FlashblockLocation | undefined, freshUntilMs: number): Promise<PendingOutcome>
  /** Drops all pending blocks. @param reason for the log */
  drop(reason: string): Promise<void>
}
