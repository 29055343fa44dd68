import type { UpdatedState } from '#trie/tries'
import type { Block } from '#types/block'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Address, Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'

/** Input of block execution. Execution computes all other header fields. */
export type BlockInput = {
  /** seconds */
  readonly timestamp: number
  readonly beneficiary: Address
  readonly prevRandao: Hash
  /** gas */
  readonly gasLimit: bigint
  readonly extraData: Uint8Array
  /** from Ecotone */
  readonly parentBeaconBlockRoot?: Hash
  /** EIP-2718 bytes */
  readonly transactions: readonly Uint8Array[]
}

/** A block with all results of its execution. Immutable, so that readers in any thread may hold it. */
export type ExecutedBlock = Block & {
  readonly hash: Hash
  /** in the order of `transactions` */
  readonly executed: readonly ExecutedTransaction[]
  /** hashes of the transactions, when they are available without `executed` */
  readonly transactionHashes?: readonly Hash[]
  readonly diff: StateDiff
  readonly trie: UpdatedState
}

/** Verdict on an invalid block. The reason names the violated rule and, for a transaction, its index. */
export type InvalidBlock = { readonly kind: 'invalid'; readonly reason: string }
