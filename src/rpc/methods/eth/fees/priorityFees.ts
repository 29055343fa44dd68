import { depositType } from '#types/transaction'
import type { DecodedBlock } from '../../../cache/blockCache.ts'
import { effectiveGasPrice } from '../../../results/transaction.ts'

/** Priority fee of a transaction, wei per gas, and its gas. */
export type PaidPriorityFee = { readonly tip: bigint; readonly gasUsed: bigint }

/** Cache of results: the newest blocks are read repeatedly. */
const known = new WeakMap<DecodedBlock, readonly PaidPriorityFee[]>()

/** Priority fees of a block, lowest first; deposits pay none. */
export function priorityFeesOf(block: DecodedBlock): readonly PaidPriorityFee[] {
  const before = known.get(block)
  if (before) return before
  const baseFee = block.of.block.header.baseFeePerGas ?? 0n
  const tips = block.transactions().map(({ transaction, index }) => {
    const gasUsed = block.receipts[index]?.gasUsed ?? 0n
    const isDeposit = transaction.type === depositType
    return { tip: isDeposit ? 0n : effectiveGasPrice(transaction, baseFee) - baseFee, gasUsed }
  })
  tips.sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0))
  known.set(block, tips)
  return tips
}
