import type { Address, Hash } from './ids.ts'
import type { Receipt } from './receipt.ts'

/** Fields of a block that are fixed before its transactions; the first flashblock carries them. Base fee in wei per gas, time in seconds. */
export type FlashblockBase = {
  readonly parentHash: Hash
  readonly parentBeaconBlockRoot: Hash
  readonly feeRecipient: Address
  readonly prevRandao: Hash
  readonly gasLimit: bigint
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly baseFee: bigint
}

/** Header fields of a block in progress, up to and including this flashblock. Builders leave the state root zero. */
export type FlashblockOutcome = {
  readonly stateRoot: Hash
  readonly receiptsRoot: Hash
  readonly logsBloom: Uint8Array
  /** Gas of the whole block so far. */
  readonly gasUsed: bigint
  readonly withdrawalsRoot: Hash
  /** From Jovian: the block's DA footprint so far, in gas. */
  readonly blobGasUsed?: bigint
}

/**
 * A flashblock: the next transactions of a block in progress. The builder publishes it before the block is sealed; followers execute it.
 * @see specs flashblocks (op-stack "Flashblocks"): one message of the stream
 */
export type Flashblock = {
  /** Id of the build, 8 bytes as `0x` hex. Another build of the same number replaces its flashblocks. */
  readonly payloadId: string
  readonly blockNumber: number
  /** Counts from 0; flashblock 0 has the forced transactions. */
  readonly index: number
  /** Set in flashblock 0 only. */
  readonly base?: FlashblockBase
  /** EIP-2718 bytes of the new transactions. */
  readonly transactions: readonly Uint8Array[]
  readonly outcome: FlashblockOutcome
}

/** A flashblock from a stream. */
export type ReceivedFlashblock = Flashblock & {
  /** Memory of the `SenderTable` in which the decoding thread writes the senders of its transactions. */
  readonly senders?: SharedArrayBuffer
}

/** A flashblock with the data that only its builder has immediately: the metadata of the stream. */
export type BuiltFlashblock = Flashblock & {
  /** Hash of a block with this outcome; not the hash of the sealed block. */
  readonly blockHash: Hash
  /** Receipts of these transactions, in their order. */
  readonly receipts: readonly { readonly hash: Hash; readonly receipt: Receipt }[]
  /** Balance in wei of every account whose state the block has changed so far. */
  readonly balances: readonly { readonly address: Address; readonly balanceWei: bigint }[]
}
