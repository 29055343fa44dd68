import type { StateRoot } from '#state/stateRoot'
import type { Block } from '#types/block'
import type { Address, Hash } from '#types/ids'
import type { Receipt } from '#types/receipt'
import type { StateDiff } from '#types/stateDiff'

/** What a block decides for itself before it runs; everything else in its header follows. */
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
  /** on Ethereum's own chain: the whole block, which decides more for itself */
  readonly ethereum?: Block
}

/** One transaction that ran. */
export type ExecutedTransaction = {
  readonly hash: Hash
  readonly sender: Address
  readonly receipt: Receipt
  readonly gasUsed: bigint
}

/** A block with everything that its execution left. Frozen: readers of any thread may hold it. */
export type ExecutedBlock = Block & {
  readonly hash: Hash
  /** in the order of `transactions` */
  readonly executed: readonly ExecutedTransaction[]
  /** those of `executed`, where they are cheaper to have */
  readonly transactionHashes?: readonly Hash[]
  readonly diff: StateDiff
  readonly trie: StateRoot
}

/** A block that cannot be: the reason names the rule and, for a transaction, its place. */
export type InvalidBlock = { readonly kind: 'invalid'; readonly reason: string }
