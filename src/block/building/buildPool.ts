import type { Address, Hash } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'

/** A pool transaction that may be the next one of a block. */
export type PoolCandidate = {
  readonly hash: Hash
  readonly sender: Address
  /** EIP-2718 bytes */
  readonly raw: Uint8Array
  readonly tx: SignedTransaction
  /** estimated size in a compressed batch, in bytes */
  readonly sizeBytes: number
}

/** Candidates for one block, best first. */
export type PoolCursor = {
  /** @returns undefined when there is no candidate at the moment */
  next(): PoolCandidate | undefined
  /** Skips a candidate that cannot be in the block, and the sender's later ones. `never`: no block can take it, so it leaves the pool. */
  skip(candidate: PoolCandidate, why: 'now' | 'never'): void
}

/** Part of a pool that block building uses. */
export type BuildPool = {
  /** Candidates in nonce order per sender. Transactions that are added while it is read are included. @param baseFee of the block, wei per gas */
  best(baseFee: bigint): PoolCursor
  /** Calls the listener when a transaction was added that a block may take. */
  onAdded(listener: () => void): Disposable
}
