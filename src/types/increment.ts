import type { Address, Hash } from './ids.ts'
import type { Receipt } from './receipt.ts'

/** What a block decides for itself before it has transactions, as the first increment tells it. */
export type IncrementBase = {
  readonly parentHash: Hash
  readonly parentBeaconBlockRoot: Hash
  readonly feeRecipient: Address
  readonly prevRandao: Hash
  /** gas */
  readonly gasLimit: bigint
  /** seconds */
  readonly timestamp: number
  readonly extraData: Uint8Array
  /** wei per gas */
  readonly baseFee: bigint
}

/** Header fields of a block that is still being made, its increments so far included. Builders leave the state root zero. */
export type IncrementOutcome = {
  readonly stateRoot: Hash
  readonly receiptsRoot: Hash
  readonly logsBloom: Uint8Array
  /** gas, of the whole block so far */
  readonly gasUsed: bigint
  readonly withdrawalsRoot: Hash
  /** from Jovian: the block's DA footprint so far, in gas */
  readonly blobGasUsed?: bigint
}

/**
 * A slice of a block that is still being made: what its builder publishes of it before it is sealed, and who follows it executes.
 * @see specs flashblocks (op-stack "Flashblocks"): one message of the stream
 */
export type Increment = {
  /** 8 bytes as `0x` hex: the build; another one of the same number takes the place of what was shown of it */
  readonly payloadId: string
  readonly blockNumber: number
  /** from 0; slice 0 has the forced transactions */
  readonly index: number
  /** of slice 0, and of no other */
  readonly base?: IncrementBase
  /** EIP-2718 bytes: those that are new */
  readonly transactions: readonly Uint8Array[]
  readonly outcome: IncrementOutcome
}

/** An increment with what only its builder knows at once: the metadata of the stream. */
export type BuiltIncrement = Increment & {
  /** of a block with this outcome: no hash that the sealed block will have */
  readonly blockHash: Hash
  /** of its transactions, in their order */
  readonly receipts: readonly { readonly hash: Hash; readonly receipt: Receipt }[]
  /** wei, of every account that the block has changed so far, or its slots */
  readonly balances: readonly { readonly address: Address; readonly balanceWei: bigint }[]
}
