import type { Flashblock } from '#types/flashblock'

/** Blocks above the unsafe head that are followed at a time, one on another. */
export const maxPendingBlocks = 3

/**
 * Why a flashblock was not taken. Nothing of what was shown changes by the first four; by the others the block goes, with those above it.
 * - `parent`: its block stands neither on the unsafe head nor on a block that is shown; the hash of that must be the one that is named
 * - `order`: it is not the next one of the newest block (same payload id, same number, next index)
 * - `depth`: there would be more than `maxPendingBlocks`
 * - `rules`: no such block can begin there (time, base fee, first transaction …), or it holds more than is followed
 * - `transaction`: one of its transactions cannot be in the block
 * - `outcome`: what it says of itself is not what its execution gives
 * - `time`: its block takes more time (or memory) than a block that is not sealed may take, or has to give way to a call of the engine
 */
export type PendingRefusal = 'parent' | 'order' | 'depth' | 'rules' | 'transaction' | 'outcome' | 'time'

export type PendingOutcome =
  /** gas of the whole block so far */
  | { readonly kind: 'taken'; readonly gasUsed: bigint }
  /** in words, for the log */
  | { readonly kind: 'refused'; readonly reason: PendingRefusal; readonly text: string }

/**
 * Blocks that are not sealed, where they are executed. Whatever a call changed can be read by the time it is answered, and is told with the records
 * of heads; nothing of it outlives the process.
 */
export interface PendingPort {
  /**
   * Executes the new transactions of a flashblock and shows the block as it is then. Index 0 begins a block on the unsafe head, or on a block that
   * is shown, in place of all that was shown there.
   * @param freshUntilMs wall clock; after it nothing is pending until the next flashblock is taken
   */
  take(flashblock: Flashblock, freshUntilMs: number): Promise<PendingOutcome>
  /** Shows nothing any more. @param reason for the log */
  drop(reason: string): Promise<void>
}
