import type { Eip1559Params } from '#chainspec/eip1559Config'
import { bigintFromBytes, emptyBytes, equalBytes, numberFromBytes } from '#lib/bytes'
import type { Payload, PayloadAttributes } from '#types/payload'

/** First difference between a block and the attributes of its number. */
export type Difference = { readonly field: string; readonly expected: string; readonly found: string }

const differs = (field: string, expected: unknown, found: unknown): Difference | undefined =>
  expected === found ? undefined : { field, expected: `${expected ?? 'absent'}`, found: `${found ?? 'absent'}` }

/**
 * Returns the first attribute that a block on the same parent does not match; undefined when building the attributes results in this block or in an
 * invalid one. Pure. Execution has checked that the fork allows the extra data.
 * @param chain parameters that apply when eip1559Params are zeros
 * @see specs protocol/derivation.md, "L1-consolidation: payload attributes matching"; holocene and jovian: base-fee parameters in extra data
 */
export function firstDifference(chain: Eip1559Params, payload: Payload, attributes: PayloadAttributes): Difference | undefined {
  return (
    differs('timestamp', attributes.timestamp, payload.timestamp) ??
    differs('prevRandao', attributes.prevRandao, payload.prevRandao) ??
    differs('suggestedFeeRecipient', attributes.suggestedFeeRecipient, payload.feeRecipient) ??
    differs('gasLimit', attributes.gasLimit, payload.gasLimit) ??
    transactionsDiffer(attributes.transactions, payload.transactions) ??
    differs('withdrawals', attributes.withdrawals?.length, payload.withdrawals?.length) ??
    differs('parentBeaconBlockRoot', attributes.parentBeaconBlockRoot, payload.parentBeaconBlockRoot) ??
    baseFeeParamsDiffer(chain, attributes, payload.extraData)
  )
}

function transactionsDiffer(expected: readonly Uint8Array[], found: readonly Uint8Array[]): Difference | undefined {
  const at = expected.findIndex((raw, index) => !equalBytes(raw, found[index] ?? emptyBytes))
  if (at >= 0) return { field: `transactions[${at}]`, expected: bytesOf(expected[at]), found: bytesOf(found[at]) }
  return differs('transactions', expected.length, found.length)
}

const bytesOf = (raw: Uint8Array | undefined): string => (raw ? `${raw.length} bytes` : 'absent')

function baseFeeParamsDiffer(chain: Eip1559Params, attributes: PayloadAttributes, extraData: Uint8Array): Difference | undefined {
  const { eip1559Params, minBaseFee } = attributes
  if (eip1559Params === undefined) return undefined
  const isUnset = eip1559Params.every((byte) => byte === 0)
  const [denominator, elasticity] = isUnset ? [chain.denominatorCanyon, chain.elasticity] : paramsIn(eip1559Params)
  const found = extraData.length >= 9 ? paramsIn(extraData.subarray(1, 9)) : undefined
  return (
    differs('eip1559Params', `${denominator}/${elasticity}`, found && `${found[0]}/${found[1]}`) ??
    differs('minBaseFee', minBaseFee, extraData.length >= 17 ? bigintFromBytes(extraData.subarray(9, 17)) : undefined)
  )
}

const paramsIn = (bytes: Uint8Array): readonly [number, number] => [
  numberFromBytes(bytes.subarray(0, 4)),
  numberFromBytes(bytes.subarray(4, 8)),
]
