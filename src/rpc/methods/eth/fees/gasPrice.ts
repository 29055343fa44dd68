import type { ChainView } from '#types/chainView'
import { orNull, quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { Method } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { priorityFeesOf } from './priorityFees.ts'

/** Wei per gas. */
const leastTip = 1_000_000n
const highestTip = 500_000_000_000n

/**
 * Suggests a priority fee for inclusion in the next block: the minimum while blocks have room, else 10 % above the median of the last block.
 * A block is full when its largest transaction would not fit again, by gas or by DA footprint, which counts as gas from Jovian on.
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

const maxPriorityFeePerGas = ethMethod({
  name: 'eth_maxPriorityFeePerGas',
  doc: 'Suggested priority fee for inclusion in the next block, in wei per gas: 1,000,000 while blocks have room, else 10 % above the median of the latest block.',
  params: [],
  result: quantity,
  cost: 'block-read',
  example: { params: [], result: '0xf4240' },
  run(context): bigint {
    using view = context.chain.view()
    return suggestTip(context, view)
  },
})

const gasPrice = ethMethod({
  name: 'eth_gasPrice',
  doc: 'Base fee of the latest block plus the priority fee of eth_maxPriorityFeePerGas, in wei per gas.',
  params: [],
  result: quantity,
  cost: 'block-read',
  example: { params: [], result: '0xf4628' },
  run(context): bigint {
    using view = context.chain.view()
    return (view.header(view.heads.latest.hash)?.baseFeePerGas ?? 0n) + suggestTip(context, view)
  },
})

const baseFee = ethMethod({
  name: 'eth_baseFee',
  doc: 'Base fee of the next block in wei per gas; null when the chain has no base fee yet.',
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

/** Blob base fee: this chain has no blobs, so it is the minimum from Ecotone on, and 0 before. */
export const blobFeeOf = (excessBlobGas: bigint | undefined): number => (excessBlobGas === undefined ? 0 : 1)

const blobBaseFee = ethMethod({
  name: 'eth_blobBaseFee',
  doc: 'Price of blob gas in wei. This chain has no blobs: 1 from Ecotone on, 0 before.',
  params: [],
  result: quantity,
  cost: 'point-read',
  example: { params: [] },
  run(context: EthContext): number {
    using view = context.chain.view()
    return blobFeeOf(view.header(view.heads.latest.hash)?.excessBlobGas)
  },
})

export const gasPriceMethods: readonly Method<EthContext>[] = [gasPrice, baseFee, maxPriorityFeePerGas, blobBaseFee]
