import { type ForkSchedule, isActive } from '#chainspec/forks'
import type { L1Attributes } from '#chainspec/l1Info'
import type { L1FeeFacts } from '#types/l1FeeFacts'
import { depositType } from '#types/transaction'
import { daFootprint } from './daFootprint.ts'
import { type L1FeeParams, l1DataFee, l1FeeRuleAt } from './l1DataFee.ts'

function paramsOf(info: L1Attributes): L1FeeParams {
  const { baseFee, blobBaseFee, overhead, scalar } = info
  const scalars = { baseFeeScalar: BigInt(info.baseFeeScalar), blobBaseFeeScalar: BigInt(info.blobBaseFeeScalar) }
  return { baseFee, blobBaseFee, overhead, scalar, ...scalars }
}

function scalarFacts(isEcotone: boolean, info: L1Attributes): Partial<L1FeeFacts> {
  if (!isEcotone) return { l1FeeScalar: info.scalar }
  if (info.format === 'bedrock') return { l1BaseFeeScalar: info.scalar }
  return {
    l1BaseFeeScalar: BigInt(info.baseFeeScalar),
    l1BlobBaseFee: info.blobBaseFee,
    l1BlobBaseFeeScalar: BigInt(info.blobBaseFeeScalar),
  }
}

function operatorFacts(info: L1Attributes): Partial<L1FeeFacts> {
  const { operatorFeeScalar, operatorFeeConstant } = info
  if (operatorFeeScalar === 0 && operatorFeeConstant === 0n) return {}
  return { operatorFeeScalar: BigInt(operatorFeeScalar), operatorFeeConstant }
}

function footprintFacts(isJovian: boolean, info: L1Attributes, raw: Uint8Array): Partial<L1FeeFacts> {
  if (!isJovian) return {}
  const gasScalar = BigInt(info.daFootprintGasScalar)
  const blobGasUsed = gasScalar === 0n ? 0n : daFootprint(raw, gasScalar)
  return { ...(info.format === 'jovian' && { daFootprintGasScalar: gasScalar }), blobGasUsed }
}

/**
 * Computes the L1 fee fields of a transaction's receipt.
 * @param timestamp of the block, in seconds
 * @param info L1 attributes of the block
 * @param raw EIP-2718 bytes
 */
export function l1FeeFacts(schedule: ForkSchedule, timestamp: number, info: L1Attributes, raw: Uint8Array): L1FeeFacts {
  const params = paramsOf(info)
  const { fee, gasUsed } = l1DataFee(l1FeeRuleAt(schedule, timestamp, params), params, raw)
  return {
    l1GasPrice: info.baseFee,
    l1GasUsed: gasUsed,
    l1Fee: raw[0] === depositType ? 0n : fee,
    ...scalarFacts(isActive(schedule, 'ecotone', timestamp), info),
    ...operatorFacts(info),
    ...footprintFacts(isActive(schedule, 'jovian', timestamp), info, raw),
  }
}
