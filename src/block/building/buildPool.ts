import type { Address, Hash } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'

/** A transaction of the pool that may be the next one of a block. */
export type PoolCandidate = {
  readonly hash: Hash
  readonly sender: Address
  /** EIP-2718 bytes */
  readonly raw: Uint8Array
  readonly tx: SignedTransaction
  /** what it is expected to take of a compressed batch */
  readonly sizeBytes: number
}

/** The candidates of one block, the best first. */
export type PoolCursor = {
  /** undefined: none at the moment */
  next(): PoolCandidate | undefined
  /** It cannot be in the block, now or never: it and the later ones of its sender are passed over. One of 'never' leaves the pool. */
  skip(candidate: PoolCandidate, why: 'now' | 'never'): void
}

/** What building a block needs of a pool. */
export type BuildPool = {
  /** Each sender's in the order of their nonces. What is added while it is read comes too. @param baseFee of the block, wei per gas */
  best(baseFee: bigint): PoolCursor
  /** Told when something was added that a block may take. */
  onAdded(listener: () => void): Disposable
}
