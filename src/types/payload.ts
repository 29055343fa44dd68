import type { Address, Hash } from './ids.ts'

/** Payload attributes of the Engine API with the OP fields. Times in seconds, here and in payloads. */
export type PayloadAttributes = {
  readonly timestamp: number
  readonly prevRandao: Hash
  readonly suggestedFeeRecipient: Address
  /** From Canyon: the empty list; absent before. */
  readonly withdrawals?: readonly []
  /** From Ecotone: the parent beacon block root of the L1 origin. */
  readonly parentBeaconBlockRoot?: Hash
  /** EIP-2718 bytes in order: L1 attributes, user deposits, upgrade transactions, transactions of the batch. */
  readonly transactions: readonly Uint8Array[]
  readonly noTxPool: boolean
  readonly gasLimit: bigint
  /** From Holocene: 8 bytes, denominator u32 ‖ elasticity u32; zero in both selects the chain's configured values. */
  readonly eip1559Params?: Uint8Array
  /** From Jovian: wei per gas. */
  readonly minBaseFee?: bigint
}

/** A built block, as the Engine API carries it; fields of later forks are absent before the fork. */
export type Payload = {
  readonly parentHash: Hash
  readonly feeRecipient: Address
  readonly stateRoot: Hash
  readonly receiptsRoot: Hash
  readonly logsBloom: Uint8Array
  readonly prevRandao: Hash
  readonly blockNumber: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly baseFeePerGas: bigint
  readonly blockHash: Hash
  readonly transactions: readonly Uint8Array[]
  readonly withdrawals?: readonly []
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  /** From Isthmus. */
  readonly withdrawalsRoot?: Hash
  /** Sent next to the payload in the Engine API, not inside it. */
  readonly parentBeaconBlockRoot?: Hash
}
