import type { RollupConfig } from '#chain/rollupConfig'
import { parseRollupConfig } from '#chain/rollupConfig'
import { fromHex } from '#lib/hex'
import { type Block, decodeBlock } from '#types/block'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { readSharedJson } from './sharedData.ts'

/** A block in the Engine API's form. */
export function payloadOfBlock({ header, transactions }: Block): Payload {
  return {
    parentHash: header.parentHash,
    feeRecipient: header.beneficiary,
    stateRoot: header.stateRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: header.logsBloom,
    prevRandao: header.mixHash,
    blockNumber: header.number,
    gasLimit: header.gasLimit,
    gasUsed: header.gasUsed,
    timestamp: header.timestamp,
    extraData: header.extraData,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    blockHash: hashHeader(header),
    transactions,
    ...(header.withdrawalsRoot !== undefined && { withdrawals: [], withdrawalsRoot: header.withdrawalsRoot }),
    ...(header.blobGasUsed !== undefined && { blobGasUsed: header.blobGasUsed }),
    ...(header.excessBlobGas !== undefined && { excessBlobGas: header.excessBlobGas }),
    ...(header.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: header.parentBeaconBlockRoot }),
  }
}

export const recordedChains = ['op-bedrock-to-holocene', 'op-ecotone-to-jovian'] as const

export type RecordedL2 = { readonly config: RollupConfig; readonly payloads: readonly Payload[] }

/** A recorded chain's rollup config and L2 blocks, genesis first. */
export function readRecordedL2(name: string): RecordedL2 {
  const { config } = parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`))
  const l2 = readSharedJson<{ blocks: { raw: string }[] }>(`chains/${name}/l2.json.zst`)
  return { config, payloads: l2.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(fromHex(raw)))) }
}
