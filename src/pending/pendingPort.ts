import type { Flashblock } from '#types/flashblock'

/** Maximum number of pending blocks above the unsafe head. */
export const maxPendingBlocks = 3

/**
 * Why a flashblock was refused. The first four leave the pending blocks as they are; the others drop its block and the blocks above it.
 * - `parent`: its block is neither on the unsafe head nor on a pending block whose hash is the named parent
 * - `order`: it is not the next flashblock of the newest block (same payload id, same number, next index)
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
   * the pending blocks that were there.
   * @param freshUntilMs wall clock; the pending blocks expire then, unless another flashblock is taken
   */
  take(flashblock: Flashblock, freshUntilMs: number): Promise<PendingOutcome>
  /** Drops all pending blocks. @param reason for the log */
  drop(reason: string): Promise<void>
}
