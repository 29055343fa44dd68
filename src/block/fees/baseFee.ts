import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Header } from '#types/header'
import { type BaseFeeParams, chainBaseFeeParams, decodeExtraData, extraDataFormAt } from '../validation/eip1559ExtraData.ts'

type FeeConfig = Pick<RollupConfig, 'eip1559' | 'schedule'>
type FeeParent = Pick<Header, 'timestamp' | 'gasLimit' | 'gasUsed' | 'blobGasUsed' | 'extraData' | 'baseFeePerGas'>

/**
 * Returns the base fee of the next block by EIP-1559. The change is proportional to the distance between the parent's metered gas and its target
 * (gas limit / elasticity). The fee falls by at most 1/denominator, and never below the minimum.
 * @returns wei per gas
 */
export function nextBaseFee(parent: { baseFee: bigint; gasLimit: bigint; gasMetered: bigint }, params: BaseFeeParams): bigint {
  const { baseFee, gasMetered } = parent
  const target = parent.gasLimit / BigInt(params.elasticity)
  const next = baseFee + change(baseFee, gasMetered, target, BigInt(params.denominator))
  return next < params.minBaseFee ? params.minBaseFee : next
}

/** Change of the base fee in wei per gas: zero when the target is zero, at least 1 when it rises. A fall is rounded towards zero. */
function change(baseFee: bigint, metered: bigint, target: bigint, denominator: bigint): bigint {
  if (metered === target || target === 0n) return 0n
  const distance = metered > target ? metered - target : target - metered
  const delta = (baseFee * distance) / target / denominator
  if (metered < target) return -delta
  return delta === 0n ? 1n : delta
}

/**
 * Returns the base fee of a block's child. Up to Granite the chain's parameters apply, with Canyon's denominator when the child is a Canyon block.
 * From Holocene on the parameters in the parent's extra data apply. From Jovian on the metered gas is the larger of the parent's gas used and its
 * DA footprint, and the parent's minimum base fee applies.
 * @param timestamp of the child, in seconds
 * @returns wei per gas; undefined when the parent's extra data cannot be decoded, so that no child of the parent is valid
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
