import { decodeTransaction, depositType } from '#types/transaction'
import type { ChainBlock, ChainReceipt } from '../../ports.ts'
import { effectiveGasPrice } from '../../results/transaction.ts'

/** What a transaction paid on top of the base fee, wei per gas, and its gas. */
export type PaidTip = { readonly tip: bigint; readonly gasUsed: bigint }

/** The tips of a block, lowest first; deposits pay none. */
export function tipsOf({ block }: ChainBlock, receipts: readonly ChainReceipt[]): readonly PaidTip[] {
  const baseFee = block.header.baseFeePerGas ?? 0n
  const tips = block.transactions.map((raw, index) => {
    const gasUsed = receipts[index]?.gasUsed ?? 0n
    if (raw[0] === depositType) return { tip: 0n, gasUsed }
    return { tip: effectiveGasPrice(decodeTransaction(raw), baseFee) - baseFee, gasUsed }
  })
  return tips.sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0))
}
