import type { ExecutionConfig } from '#block/executionConfig'
import { childBaseFee } from '#block/fees/baseFee'
import { readL1BlockFees, type SlotReader } from '#block/fees/l1BlockSlots'
import { estimatedSizeMillionths, hasEcotoneValues, l1DataFee, l1FeeRuleAt } from '#block/fees/l1DataFee'
import { operatorFee, operatorFeeRuleAt } from '#block/fees/operatorFee'
import type { EvmRules } from '#chainspec/evmRules'
import { isActive } from '#chainspec/forks'
import { evmRulesAt } from '#chainspec/opRules'
import type { Header } from '#types/header'
import type { SignedTransaction } from '#types/transaction'

/** Gas per byte of estimated size in Fjord's formula. */
const fjordGasPerByte = 16n

/** Facts of a head that all transactions are checked against. */
export type HeadFacts = {
  readonly rules: EvmRules
  /** gas limit of a block, in gas */
  readonly gasLimit: bigint
  /** base fee of the next block, in wei per gas */
  readonly baseFee: bigint
  /** Returns a transaction's L1 data fee in wei and its estimated size in a compressed batch. @param raw EIP-2718 bytes */
  dataOf(raw: Uint8Array): { readonly feeWei: bigint; readonly sizeBytes: number }
  /** Operator fee on the gas limit, in wei. */
  operatorFeeOf(tx: SignedTransaction): bigint
}

/**
 * Returns the rules for the block after a head, and the prices that L1Block holds now. The rules are those of one second after the head, because the
 * time of the next block is not known. The first Ecotone block leaves Bedrock's prices in L1Block. No later block uses them, and Bedrock's formula
 * may misread their scalar. So data costs nothing in this check then, and the block that takes the transaction applies its own price.
 */
export function readHeadFacts(config: ExecutionConfig, header: Header, state: SlotReader): HeadFacts {
  const { schedule } = config
  const timestamp = header.timestamp + 1
  const prices = readL1BlockFees(state, schedule, timestamp)
  const l1Rule = l1FeeRuleAt(schedule, timestamp, prices.dataFee)
  const operatorRule = operatorFeeRuleAt(schedule, timestamp)
  const isOutdated = isActive(schedule, 'ecotone', timestamp) && !hasEcotoneValues(prices.dataFee)
  return {
    rules: evmRulesAt(schedule, timestamp),
    gasLimit: header.gasLimit,
    baseFee: childBaseFee(config, header, timestamp) ?? header.baseFeePerGas ?? 0n,
    dataOf(raw): { feeWei: bigint; sizeBytes: number } {
      const { fee: feeWei, gasUsed } = l1DataFee(l1Rule, prices.dataFee, raw)
      // the size estimate is most of the work, and Fjord's fee already contains it
      const size = l1Rule === 'fjord' ? gasUsed / fjordGasPerByte : estimatedSizeMillionths(raw) / 1_000_000n
      return { feeWei: isOutdated ? 0n : feeWei, sizeBytes: Number(size) }
    },
    operatorFeeOf: ({ gasLimit }) => operatorFee(operatorRule, prices.operatorFee, gasLimit),
  }
}
