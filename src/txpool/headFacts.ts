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

/** Gas that Fjord's formula counts for each byte of estimated size. */
const fjordGasPerByte = 16n

/** What all transactions are held against as long as a head stands. */
export type HeadFacts = {
  readonly rules: EvmRules
  /** of a block, in gas */
  readonly gasLimit: bigint
  /** of the next block, wei per gas */
  readonly baseFee: bigint
  /** What a transaction's bytes cost on L1, in wei, and what they are expected to take of a compressed batch. @param raw EIP-2718 bytes */
  dataOf(raw: Uint8Array): { readonly feeWei: bigint; readonly sizeBytes: number }
  /** Wei, on the gas limit. */
  operatorFeeOf(tx: SignedTransaction): bigint
}

/**
 * Rules of the block after a head (of the second after it, for nobody here knows when that block comes), prices that stand in L1Block now. The first
 * Ecotone block leaves Bedrock's there, by which no later block is priced, and a scalar that Bedrock's formula may not understand: then data is free
 * here, and the block that takes a transaction knows its price.
 * @throws Fault UNSUPPORTED_FORK (fatal)
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
      // the estimate is most of the work, and Fjord's fee has made it already
      const size = l1Rule === 'fjord' ? gasUsed / fjordGasPerByte : estimatedSizeMillionths(raw) / 1_000_000n
      return { feeWei: isOutdated ? 0n : feeWei, sizeBytes: Number(size) }
    },
    operatorFeeOf: ({ gasLimit }) => operatorFee(operatorRule, prices.operatorFee, gasLimit),
  }
}
