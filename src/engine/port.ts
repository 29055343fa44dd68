import type { BlockId, L2Ref } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

/** The three labels of the L2 chain; finalized ≤ safe ≤ unsafe, each an ancestor of the next. */
export type Heads = { readonly unsafe: L2Ref; readonly safe: L2Ref; readonly finalized: L2Ref }

export type BuildResult = { readonly kind: 'built'; readonly payload: Payload } | { readonly kind: 'invalid'; readonly reason: string }

/** What became of a payload that was offered. */
export type InsertResult = { readonly kind: 'valid' } | { readonly kind: 'invalid'; readonly reason: string }

/**
 * The seam between the halves: what the consensus half asks of the execution half. Every call may also fail with a Fault of severity 'retry'
 * when the other half is elsewhere and cannot be reached or is busy.
 */
export interface Engine {
  /**
   * Validates a payload by executing it on its parent and makes it known; the labels stay. One that is known already is not executed again.
   * @throws Fault UNKNOWN_PARENT (reset), UNSUPPORTED_FORK (fatal), BLOCK_NOT_EXECUTED (retry) when it takes too long: it may be valid, and is
   * executed again when it is offered after some minutes
   */
  insert(payload: Payload): Promise<InsertResult>
  /**
   * Executes attributes on top of a known block and makes the result known. The unsafe head may move to the parent (over the Engine API, where
   * building starts with a forkchoice); safe and finalized stay. Unless the attributes say `noTxPool`, transactions of the pool follow theirs, the
   * best first, as they come, until none fits any more or `seal` is aborted; then the block is sealed.
   * @param seal aborted when the block is to be sealed, whatever the reason; absent: with what the pool has now (over the Engine API: with
   * what was taken of it until the other half was asked for the block)
   * @param onSound told when the transactions of the attributes are executed and those of the pool follow; never without the pool
   * @returns 'invalid' when the attributes cannot be executed (from Holocene the caller replaces them by their deposits)
   * @throws Fault UNKNOWN_PARENT (reset), UNSUPPORTED_FORK (fatal)
   */
  build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onSound?: () => void): Promise<BuildResult>
  /**
   * Makes the unsafe head canonical and labels safe and finalized, durably, in one step; an unwind and its new branch are one step too. The
   * unsafe head may be an ancestor of the one before: the chain is then shorter. Never below what is finalized.
   * @throws Fault INVALID_FORKCHOICE (reset) when a head is unknown or the order of ancestors is broken
   */
  setHeads(heads: Heads): Promise<void>
  heads(): Promise<Heads>
  /** A known block: the canonical one at a number, or any by its hash. */
  payload(at: number | Hash): Promise<Payload | undefined>
  /** Storage root of an account after a known block; that of the empty trie when there is no account. undefined: the state is not retained. */
  storageRoot(account: Address, block: BlockId): Promise<Hash | undefined>
}
