import { mayFollow } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import type { Header } from '#types/header'
import type { PayloadAttributes } from '#types/payload'
import { depositType } from '#types/transaction'
import type { BlockInput } from '../execution/executedBlock.ts'
import type { ExecutionConfig } from '../executionConfig.ts'
import { chainBaseFeeParams, eip1559ParamsRefusal, encodeExtraData, extraDataFormAt, extraDataRefusal } from './eip1559ExtraData.ts'

/** Maximum gas limit of a block (EIP-1985). */
const maxGasLimit = (1n << 63n) - 1n

/**
 * Returns why no block with this input can follow the parent, or undefined. The gas limit is not checked against the parent's: L1 sets it.
 * @see specs protocol/exec-engine.md, "Extended PayloadAttributesV1"; protocol/{ecotone,holocene,jovian}/exec-engine.md
 */
export function inputRefusal(config: ExecutionConfig, parent: Header, input: BlockInput): string | undefined {
  const { timestamp } = input
  if (!mayFollow(config.schedule, parent.timestamp, timestamp))
    return `timestamp ${timestamp} is not after the parent's ${parent.timestamp}`
  if (input.gasLimit > maxGasLimit) return `gas limit ${input.gasLimit} is above ${maxGasLimit}`
  const isEcotone = isActive(config.schedule, 'ecotone', timestamp)
  if (isEcotone && input.parentBeaconBlockRoot === undefined) return 'parentBeaconBlockRoot is missing'
  if (!isEcotone && input.parentBeaconBlockRoot !== undefined) return 'parentBeaconBlockRoot is present before ecotone'
  if (input.transactions[0]?.[0] !== depositType) return 'the first transaction is not a deposit'
  return extraDataRefusal(extraDataFormAt(config.schedule, timestamp), input.extraData)
}

/** Returns why the attributes' fields are not exactly those of their fork, or undefined. */
export function attributesRefusal(config: ExecutionConfig, attributes: PayloadAttributes): string | undefined {
  const { timestamp, withdrawals, eip1559Params, minBaseFee } = attributes
  const isCanyon = isActive(config.schedule, 'canyon', timestamp)
  if (isCanyon && withdrawals === undefined) return 'withdrawals are missing'
  if (!isCanyon && withdrawals !== undefined) return 'withdrawals are present before canyon'
  if (withdrawals?.length) return 'withdrawals are not empty'
  const form = extraDataFormAt(config.schedule, timestamp)
  if (form === 'jovian' && minBaseFee === undefined) return 'minBaseFee is missing'
  if (form !== 'jovian' && minBaseFee !== undefined) return 'minBaseFee is present before jovian'
  if (form === 'empty') return eip1559Params === undefined ? undefined : 'eip1559Params are present before holocene'
  return eip1559ParamsRefusal(eip1559Params)
}

/** Converts attributes into block input. The attributes must have passed `attributesRefusal`. */
export function inputOfAttributes(config: ExecutionConfig, attributes: PayloadAttributes): BlockInput {
  const { timestamp, parentBeaconBlockRoot, eip1559Params, minBaseFee } = attributes
  const form = extraDataFormAt(config.schedule, timestamp)
  const own = chainBaseFeeParams(config.eip1559, config.schedule, timestamp)
  const extraData =
    form === 'empty' || eip1559Params === undefined ? new Uint8Array(0) : encodeExtraData(form, eip1559Params, own, minBaseFee ?? 0n)
  return {
    timestamp,
    beneficiary: attributes.suggestedFeeRecipient,
    prevRandao: attributes.prevRandao,
    gasLimit: attributes.gasLimit,
    extraData,
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    transactions: attributes.transactions,
  }
}
