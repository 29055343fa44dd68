import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Header } from '#types/header'
import { type BaseFeeParams, chainBaseFeeParams, decodeExtraData, extraDataFormAt } from '../validation/eip1559ExtraData.ts'

type FeeConfig = Pick<RollupConfig, 'eip1559' | 'schedule'>
type FeeParent = Pick<Header, 'timestamp' | 'gasLimit' | 'gasUsed' | 'blobGasUsed' | 'extraData' | 'baseFeePerGas'>

/**
 * EIP-1559 with the parameters given: by how far the parent's gas missed its target (limit / elasticity), at most 1/denominator up or down,
 * never below the minimum.
 * @returns wei per gas
 */
export function nextBaseFee(parent: { baseFee: bigint; gasLimit: bigint; gasMetered: bigint }, params: BaseFeeParams): bigint {
  const { baseFee, gasMetered } = parent
  const target = parent.gasLimit / BigInt(params.elasticity)
  const next = baseFee + change(baseFee, gasMetered, target, BigInt(params.denominator))
  return next < params.minBaseFee ? params.minBaseFee : next
}

/** No target: the fee stays. A rise is at least 1 wei, a fall may round to nothing; no fall exceeds the fee (denominator ≥ 1). */
function change(baseFee: bigint, metered: bigint, target: bigint, denominator: bigint): bigint {
  if (metered === target || target === 0n) return 0n
  const distance = metered > target ? metered - target : target - metered
  const delta = (baseFee * distance) / target / denominator
  if (metered < target) return -delta
  return delta === 0n ? 1n : delta
}

/**
 * Base fee of the child of a block: up to Granite with the chain's parameters (Canyon's denominator from the child's own time on), later
 * with those in the parent's extra data; from Jovian the larger of gas used and DA footprint counts, and the parent's minimum holds.
 * @param timestamp of the child, seconds
 * @returns wei per gas; undefined when the parent's extra data cannot be read: no child of it is valid
 * @see specs protocol/holocene/exec-engine.md, "Base fee computation"; protocol/jovian/exec-engine.md
 */
export function childBaseFee(config: FeeConfig, parent: FeeParent, timestamp: number): bigint | undefined {
  if (parent.baseFeePerGas === undefined) return undefined
  const form = extraDataFormAt(config.schedule, parent.timestamp)
  const own = chainBaseFeeParams(config.eip1559, config.schedule, timestamp)
  const params = form === 'empty' ? own : decodeExtraData(form, parent.extraData, own)
  if (params === undefined) return undefined
  const footprint = isActive(config.schedule, 'jovian', parent.timestamp) ? (parent.blobGasUsed ?? 0n) : 0n
  const gasMetered = footprint > parent.gasUsed ? footprint : parent.gasUsed
  return nextBaseFee({ baseFee: parent.baseFeePerGas, gasLimit: parent.gasLimit, gasMetered }, params)
}
