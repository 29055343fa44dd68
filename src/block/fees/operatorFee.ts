import { type ForkSchedule, isActive } from '#chainspec/forks'

/** Operator fee parameters of L1Block: u32 and u64. */
export type OperatorFeeParams = { readonly scalar: bigint; readonly constant: bigint }

/** Meaning of the scalar: `none` no fee, `isthmus` millionths of a wei per gas, `jovian` hundreds of wei per gas. */
export type OperatorFeeRule = 'none' | 'isthmus' | 'jovian'

/** Returns the operator fee rule for a block time in seconds. */
export function operatorFeeRuleAt(schedule: ForkSchedule, timestamp: number): OperatorFeeRule {
  if (isActive(schedule, 'jovian', timestamp)) return 'jovian'
  return isActive(schedule, 'isthmus', timestamp) ? 'isthmus' : 'none'
}

/**
 * Computes the operator fee of an amount of gas. It is charged on the gas limit and settled on the gas used. The result fits in 256 bits for every
 * amount of gas (u64).
 * @returns wei
 * @see specs protocol/isthmus/exec-engine.md, "Operator fee"; protocol/jovian/exec-engine.md, "Operator fee"
 */
export function operatorFee(rule: OperatorFeeRule, params: OperatorFeeParams, gas: bigint): bigint {
  switch (rule) {
    case 'none':
      return 0n
    case 'isthmus':
      return (gas * params.scalar) / 1_000_000n + params.constant
    case 'jovian':
      return gas * params.scalar * 100n + params.constant
  }
}
