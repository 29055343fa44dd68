import { operatorFee } from '#block/fees/operatorFee'
import { bigintField, has, type Json } from '#types/jsonShape'

/** Fee of a transaction in wei, by the recipient. The sender paid the total, besides the value. */
export type FeeParts = { readonly execution: bigint; readonly l1: bigint; readonly operator: bigint; readonly total: bigint }

const optional = (json: Json, key: string): bigint => (has(json, key) ? bigintField(json, key) : 0n)

/** Returns whether a block follows Jovian: its extra data has the minimum base fee. @see specs protocol/jovian/exec-engine.md, "Minimum Base Fee" */
const isJovian = (block: Json): boolean => typeof block['extraData'] === 'string' && block['extraData'].length === 2 + 2 * 17

/**
 * Splits the fee of a transaction. A deposit pays none: L1 has paid its gas.
 * @param block header of the transaction's block
 * @throws ShapeError when a field is malformed
 */
export function feesOf(receipt: Json, block: Json): FeeParts {
  if (receipt['type'] === '0x7e') return { execution: 0n, l1: 0n, operator: 0n, total: 0n }
  const gas = bigintField(receipt, 'gasUsed')
  const execution = gas * optional(receipt, 'effectiveGasPrice')
  const l1 = optional(receipt, 'l1Fee')
  const hasOperatorFee = has(receipt, 'operatorFeeScalar') || has(receipt, 'operatorFeeConstant')
  const params = { scalar: optional(receipt, 'operatorFeeScalar'), constant: optional(receipt, 'operatorFeeConstant') }
  const operator = hasOperatorFee ? operatorFee(isJovian(block) ? 'jovian' : 'isthmus', params, gas) : 0n
  return { execution, l1, operator, total: execution + l1 + operator }
}
