import { baseFeeVault, l1FeeVault, operatorFeeVault } from '#chainspec/addresses'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import type { EvmSession } from '#evm/ports'
import type { FeeRules } from '../execution/applyTransaction.ts'
import { daFootprint } from './daFootprint.ts'
import { readL1BlockFees } from './l1BlockSlots.ts'
import { estimatedSizeMillionths, l1DataFee, l1FeeRuleAt } from './l1DataFee.ts'
import { operatorFee, operatorFeeRuleAt } from './operatorFee.ts'

/** Fee rules of one block: the fees of its user transactions and their DA footprints. */
export type OpFees = {
  readonly rules: FeeRules
  /** DA footprint of a transaction in gas; zero before Jovian */
  footprint(raw: Uint8Array): bigint
}

/**
 * Creates the fee rules of a block from the prices that L1Block holds now. Call it after the block's first transaction, which sets the prices.
 * @param timestamp of the block, in seconds
 * @see specs protocol/exec-engine.md, "Fees"; protocol/isthmus/exec-engine.md, "Operator fee"
 */
export function createOpFees(schedule: ForkSchedule, timestamp: number, session: EvmSession): OpFees {
  const prices = readL1BlockFees(session, schedule, timestamp)
  const l1Rule = l1FeeRuleAt(schedule, timestamp, prices.dataFee)
  const operatorRule = operatorFeeRuleAt(schedule, timestamp)
  const sizeOf = rememberLast(estimatedSizeMillionths)
  const l1FeeOf = rememberLast((raw) => l1DataFee(l1Rule, prices.dataFee, raw, sizeOf).fee)
  const hasFootprint = isActive(schedule, 'jovian', timestamp)
  const operatorFeeOf = (gas: bigint): bigint => operatorFee(operatorRule, prices.operatorFee, gas)
  return {
    rules: {
      upfront: (raw, tx) => l1FeeOf(raw) + operatorFeeOf(tx.gasLimit),
      settle(to, used): void {
        to.addBalance(used.beneficiary, used.tipPerGas * used.gasUsed)
        to.addBalance(baseFeeVault, used.baseFee * used.gasUsed)
        to.addBalance(l1FeeVault, l1FeeOf(used.raw))
        if (operatorRule === 'none') return
        const earned = operatorFeeOf(used.gasUsed)
        to.addBalance(operatorFeeVault, earned)
        to.addBalance(used.sender, operatorFeeOf(used.gasLimit) - earned)
      },
    },
    footprint: (raw) => (hasFootprint ? daFootprint(raw, prices.daFootprintGasScalar, sizeOf) : 0n),
  }
}

/** Caches the last result: the fee of a transaction is computed for its validity check and used again when it is paid. */
function rememberLast(compute: (raw: Uint8Array) => bigint): (raw: Uint8Array) => bigint {
  let last: Uint8Array | undefined
  let value = 0n
  return (raw) => {
    if (last !== raw) value = compute(raw)
    last = raw
    return value
  }
}
