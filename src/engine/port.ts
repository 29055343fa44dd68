import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

/** The three labels of the L2 chain; finalized ≤ safe ≤ unsafe, each an ancestor of the next. */
export type Heads = { readonly unsafe: L2Ref; readonly safe: L2Ref; readonly finalized: L2Ref }

export type BuildResult = { readonly kind: 'built'; readonly payload: Payload } | { readonly kind: 'invalid'; readonly reason: string }

/** The seam between the halves: what the consensus half asks of the execution half. */
export interface Engine {
  /**
   * Executes attributes on top of a known block and makes the result known; no head moves.
   * @returns 'invalid' when the attributes cannot be executed (from Holocene the caller replaces them by their deposits)
   * @throws Fault UNKNOWN_PARENT (reset), UNSUPPORTED_FORK (fatal)
   */
  build(parent: BlockId, attributes: PayloadAttributes): Promise<BuildResult>
  /**
   * Makes the unsafe head canonical and labels safe and finalized, durably, in one step; an unwind and its new branch are one step too.
   * @throws Fault INVALID_FORKCHOICE (reset) when a head is unknown or the order of ancestors is broken
   */
  setHeads(heads: Heads): Promise<void>
  heads(): Promise<Heads>
  /** A known block: the canonical one at a number, or any by its hash. */
  payload(at: number | Hash): Promise<Payload | undefined>
}
