import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { recordedChains as clients, type RecordedChainName, type RecordedL2Block, readRecordedChain } from '#devnet/recordedChain'
import { decodeBlock } from '#types/block'
import type { Payload, PayloadAttributes } from '#types/payload'

export const recordedChains = Object.keys(clients) as readonly RecordedChainName[]

export type RecordedL2 = { readonly config: RollupConfig; readonly payloads: readonly Payload[] }

export const payloadsOf = (blocks: readonly RecordedL2Block[]): readonly Payload[] =>
  blocks.map(({ raw }) => payloadOfBlock(decodeBlock(raw)))

/** Returns a recorded chain's rollup config and L2 blocks, genesis first. */
export function readRecordedL2(name: RecordedChainName): RecordedL2 {
  const { config, blocks } = readRecordedChain(name)
  return { config, payloads: payloadsOf(blocks) }
}

/** Attributes with which a sequencer builds a block with other transactions. */
export function attributesOf(payload: Payload, transactions: readonly Uint8Array[]): PayloadAttributes {
  const { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot, gasLimit, extraData } = payload
  return {
    ...{ timestamp, prevRandao, suggestedFeeRecipient: feeRecipient, gasLimit, transactions, noTxPool: true },
    ...(withdrawals && { withdrawals }),
    ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }),
    ...(extraData.length >= 9 && { eip1559Params: extraData.slice(1, 9) }),
    ...(extraData.length >= 17 && { minBaseFee: new DataView(extraData.slice(9, 17).buffer).getBigUint64(0) }),
  }
}
