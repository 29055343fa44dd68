import type { ChainView } from '#types/chainView'
import { orNull, quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { ethMethod } from '../../define.ts'
import { priorityFeesOf } from './priorityFees.ts'

/** Wei per gas. */
const leastTip = 1_000_000n
const highestTip = 500_000_000_000n

/**
 * A tip with which a transaction gets into the next block: the least one while blocks have room, else a tenth more than the median of the last
 * block. A block is full when its largest transaction would not fit once more, by gas or by DA footprint, which counts as gas from Jovian on.
 */
function suggestTip({ blocks }: EthContext, view: ChainView): bigint {
  const block = blocks.read(view, view.heads.latest.hash)
  if (block === undefined) return leastTip
  const { gasUsed, gasLimit, blobGasUsed = 0n } = block.of.block.header
  const metered = gasUsed > blobGasUsed ? gasUsed : blobGasUsed
  const largest = block.receipts.reduce((most, receipt) => (receipt.gasUsed > most ? receipt.gasUsed : most), 0n)
  if (metered + largest <= gasLimit) return leastTip
  const tips = priorityFeesOf(block)
  const median = tips[Math.floor(tips.length / 2)]?.tip ?? 0n
  const suggested = median + median / 10n
  if (suggested < leastTip) return leastTip
  return suggested < highestTip ? suggested : highestTip
}

export const maxPriorityFeePerGas = ethMethod({
  name: 'eth_maxPriorityFeePerGas',
  doc: 'A tip with which a transaction gets into the next block, in wei per gas: 1,000,000 while blocks have room, else a tenth above the median of the latest block.',
  params: [],
  result: quantity,
  cost: 'block-read',
  example: { params: [], result: '0xf4240' },
  run(context): bigint {
    using view = context.chain.view()
    return suggestTip(context, view)
  },
})

export const gasPrice = ethMethod({
  name: 'eth_gasPrice',
  doc: 'Base fee of the latest block and the tip that eth_maxPriorityFeePerGas suggests, in wei per gas.',
  params: [],
  result: quantity,
  cost: 'block-read',
  example: { params: [], result: '0xf4628' },
  run(context): bigint {
    using view = context.chain.view()
    return (view.header(view.heads.latest.hash)?.baseFeePerGas ?? 0n) + suggestTip(context, view)
  },
})

export const baseFee = ethMethod({
  name: 'eth_baseFee',
  doc: 'Base fee of the next block in wei per gas; null before there are any.',
  params: [],
  result: orNull(quantity),
  cost: 'point-read',
  example: { params: [] },
  run({ chain, fees }): bigint | undefined {
    using view = chain.view()
    const head = view.header(view.heads.latest.hash)
    return head && fees.nextBaseFee(head)
  },
})

/** There are no blobs on this chain: from Ecotone on the least price stands in their place. */
export const blobFeeOf = (excessBlobGas: bigint | undefined): number => (excessBlobGas === undefined ? 0 : 1)

export const blobBaseFee = ethMethod({
  name: 'eth_blobBaseFee',
  doc: 'Price of blob gas in wei: 1 from Ecotone on, 0 before, for there are no blobs on this chain.',
  params: [],
  result: quantity,
  cost: 'point-read',
  example: { params: [] },
  run(context: EthContext): number {
    using view = context.chain.view()
    return blobFeeOf(view.header(view.heads.latest.hash)?.excessBlobGas)
  },
})
