import type { Eip1559Params } from '#chainspec/eip1559Config'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import { bigintFromBytes, bytesFromBigint, concatBytes, numberFromBytes } from '#lib/bytes'

/** Format of a block's extra data: empty (a genesis block may have any), Holocene's 9 bytes, Jovian's 17 bytes. */
export type ExtraDataForm = 'empty' | 'holocene' | 'jovian'

/** Base-fee parameters that a block sets for its child. */
export type BaseFeeParams = {
  readonly denominator: number
  readonly elasticity: number
  /** wei per gas; zero before Jovian */
  readonly minBaseFee: bigint
}

/** Returns the format of the extra data for a block time in seconds. */
export function extraDataFormAt(schedule: ForkSchedule, timestamp: number): ExtraDataForm {
  if (isActive(schedule, 'jovian', timestamp)) return 'jovian'
  return isActive(schedule, 'holocene', timestamp) ? 'holocene' : 'empty'
}

/** Returns the chain's base-fee parameters for a block at this time. */
export function chainBaseFeeParams(params: Eip1559Params, schedule: ForkSchedule, timestamp: number): BaseFeeParams {
  const denominator = isActive(schedule, 'canyon', timestamp) ? params.denominatorCanyon : params.denominator
  return { denominator, elasticity: params.elasticity, minBaseFee: 0n }
}

const u32 = (bytes: Uint8Array, at: number): number => numberFromBytes(bytes.subarray(at, at + 4))

/** Returns why the 8 bytes `denominator ‖ elasticity` of payload attributes are invalid, or undefined. Two zeros select the chain's parameters. */
export function eip1559ParamsRefusal(params: Uint8Array | undefined): string | undefined {
  if (params === undefined) return 'eip1559Params are missing'
  if (params.length !== 8) return `eip1559Params of ${params.length} bytes`
  const denominator = u32(params, 0)
  const elasticity = u32(params, 4)
  if (denominator === 0 && elasticity !== 0) return 'eip1559Params: denominator is zero'
  return denominator !== 0 && elasticity === 0 ? 'eip1559Params: elasticity is zero' : undefined
}

/**
 * Encodes the extra data of a block that is built from attributes.
 * @param params 8 bytes that have passed `eip1559ParamsRefusal`
 * @param own the chain's parameters, which replace zeros
 * @see specs protocol/holocene/exec-engine.md, "Encoding"; protocol/jovian/exec-engine.md, "Minimum base fee"
 */
export function encodeExtraData(form: 'holocene' | 'jovian', params: Uint8Array, own: BaseFeeParams, minBaseFee: bigint): Uint8Array {
  const isUnset = u32(params, 0) === 0
  const denominator = isUnset ? own.denominator : u32(params, 0)
  const elasticity = isUnset ? own.elasticity : u32(params, 4)
  const common = [bytesFromBigint(BigInt(denominator), 4), bytesFromBigint(BigInt(elasticity), 4)]
  if (form === 'holocene') return concatBytes(Uint8Array.of(0), ...common)
  return concatBytes(Uint8Array.of(1), ...common, bytesFromBigint(minBaseFee, 8))
}

const lengths: Readonly<Record<ExtraDataForm, number>> = { empty: 0, holocene: 9, jovian: 17 }

/** Returns why the extra data is invalid in this format, or undefined. @see specs protocol/exec-engine.md, "Extra Data" */
export function extraDataRefusal(form: ExtraDataForm, extraData: Uint8Array): string | undefined {
  const length = lengths[form]
  if (extraData.length !== length) return `extra data of ${extraData.length} bytes, ${length} expected`
  if (form === 'empty') return undefined
  const version = form === 'holocene' ? 0 : 1
  if (extraData[0] !== version) return `extra data of version ${extraData[0]}, ${version} expected`
  if (u32(extraData, 1) === 0) return 'extra data: denominator is zero'
  return u32(extraData, 5) === 0 ? 'extra data: elasticity is zero' : undefined
}

/**
 * Decodes the base-fee parameters in a parent's extra data. If denominator and elasticity are both zero, as in a genesis block, the chain's apply.
 * @returns undefined when the bytes do not have this format: such a block has no valid child
 */
export function decodeExtraData(form: 'holocene' | 'jovian', extraData: Uint8Array, own: BaseFeeParams): BaseFeeParams | undefined {
  const isUnset = extraData.length >= 9 && u32(extraData, 1) === 0 && u32(extraData, 5) === 0
  const minBaseFee = form === 'jovian' ? bigintFromBytes(extraData.subarray(9)) : 0n
  if (isUnset && extraData.length === lengths[form]) return { ...own, minBaseFee }
  if (extraDataRefusal(form, extraData) !== undefined) return undefined
  return { denominator: u32(extraData, 1), elasticity: u32(extraData, 5), minBaseFee }
}
