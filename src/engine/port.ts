import type { BlockId, L2Ref } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

/** Three labelled heads of the L2 chain: finalized ≤ safe ≤ unsafe, each an ancestor of the next. */
export type Heads = { readonly unsafe: L2Ref; readonly safe: L2Ref; readonly finalized: L2Ref }

export type BuildResult = { readonly kind: 'built'; readonly payload: Payload } | { readonly kind: 'invalid'; readonly reason: string }

/** Result of an inserted payload. */
export type InsertResult = { readonly kind: 'valid' } | { readonly kind: 'invalid'; readonly reason: string }

/**
 * Port between the halves: the operations that the consensus half requires of the execution half. Every call may also fail with a Fault of severity
 * 'retry', when the execution half runs in another process and is unreachable or busy.
 */
export interface Engine {
  /**
   * Validates a payload by executing it on its parent, and makes it known; the labels do not move. A known payload is not executed again.
   * @throws Fault UNKNOWN_PARENT (reset), BLOCK_NOT_EXECUTED (retry) when it takes too long: it may be valid, and is
   * executed again when it is offered again some minutes later
   */
  insert(payload: Payload): Promise<InsertResult>
  /**
   * Executes attributes on top of a known block and makes the result known. The unsafe head may move to the parent (over the Engine API, where a
   * build starts with a forkchoice update); safe and finalized do not move. Unless `noTxPool` is set, transactions of the pool follow those of the
   * attributes, best first, as they arrive, until none fits or `seal` is aborted; then the block is sealed.
   * @param seal aborted when the block must be sealed, for any reason; absent: sealed with the pool's current transactions, as many as are
   *   executed in a quarter of the block time (over the Engine API: with those executed until the payload is requested)
   * @param onForcedExecuted called when the transactions of the attributes are executed and those of the pool follow; never called without the pool
   * @returns 'invalid' when the attributes cannot be executed (from Holocene on the caller replaces them by their deposits)
   * @throws Fault UNKNOWN_PARENT (reset)
   */
  build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onForcedExecuted?: () => void): Promise<BuildResult>
  /**
   * Makes the unsafe head canonical and labels safe and finalized, durably and in one step, including an unwind and the new branch. The unsafe head
   * may be an ancestor of the previous one, which shortens the chain, but never below the finalized head. An older finalized head leaves that label as it
   * is, and a safe head below it becomes that block.
   * @throws Fault INVALID_FORKCHOICE (reset) when a head is unknown or the order of ancestors is broken
   */
  setHeads(heads: Heads): Promise<void>
  /** Returns the current heads. */
  heads(): Promise<Heads>
  /** Returns a known block: the canonical one at a number, or any by its hash. */
  payload(at: number | Hash): Promise<Payload | undefined>
  /**
   * Returns the storage root of an account after a known block; the empty trie's root when the account does not exist. undefined: the state is not
   * retained.
   */
  storageRoot(account: Address, block: BlockId): Promise<Hash | undefined>
}
