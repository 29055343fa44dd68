import { type ForkSchedule, isActive } from '#chainspec/forks'

/** As L1Block holds them: u32 and u64. */
export type OperatorFeeParams = { readonly scalar: bigint; readonly constant: bigint }

/** How the scalar counts: not at all, in millionths of a wei per gas, in hundreds of wei per gas. */
export type OperatorFeeRule = 'none' | 'isthmus' | 'jovian'

export function operatorFeeRuleAt(schedule: ForkSchedule, timestamp: number): OperatorFeeRule {
  if (isActive(schedule, 'jovian', timestamp)) return 'jovian'
  return isActive(schedule, 'isthmus', timestamp) ? 'isthmus' : 'none'
}

/**
 * Operator fee on an amount of gas: taken on the gas limit, settled on the gas used. No amount of gas (u64) overflows 256 bits.
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
