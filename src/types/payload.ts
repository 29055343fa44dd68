import type { Address, Hash } from './ids.ts'

/** What to build: the Engine API's payload attributes with the OP fields. */
export type PayloadAttributes = {
  /** seconds */
  readonly timestamp: number
  readonly prevRandao: Hash
  readonly suggestedFeeRecipient: Address
  /** from Canyon: none; absent before */
  readonly withdrawals?: readonly []
  /** from Ecotone: that of the L1 origin */
  readonly parentBeaconBlockRoot?: Hash
  /** EIP-2718 bytes, in order: L1 attributes, user deposits, upgrade transactions, then those of the batch */
  readonly transactions: readonly Uint8Array[]
  readonly noTxPool: boolean
  /** gas */
  readonly gasLimit: bigint
  /** from Holocene: 8 bytes, denominator u32 ‖ elasticity u32; both zero: the chain's own */
  readonly eip1559Params?: Uint8Array
  /** from Jovian: wei per gas */
  readonly minBaseFee?: bigint
}

/** A built block, as the Engine API carries it; fields of later forks are absent before them. */
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
  /** seconds */
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly baseFeePerGas: bigint
  readonly blockHash: Hash
  readonly transactions: readonly Uint8Array[]
  readonly withdrawals?: readonly []
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  /** from Isthmus */
  readonly withdrawalsRoot?: Hash
  /** travels beside the payload in the Engine API */
  readonly parentBeaconBlockRoot?: Hash
}
