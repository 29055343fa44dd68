import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import { type BlockParam, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { ParamError } from '../../../codecs/paramError.ts'
import { gasQuantity, listOf, wrongType } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { invalidParams, prunedHistory, timedOut } from '../../../errors.ts'
import { optionalParam, type ParamCodec, param } from '../../../registry.ts'
import { type BlockFees, type FeeHistory, feeHistoryResult } from '../../../results/feeHistory.ts'
import { ethMethod } from '../../define.ts'
import { onSteadyChain, requireBlock, sealed } from '../atBlock.ts'
import { blobFeeOf } from './gasPrice.ts'
import { type PaidPriorityFee, priorityFeesOf } from './priorityFees.ts'

const maxBlocks = 1_024
const maxPercentiles = 100
/** Blocks per turn of the event loop: with their transactions, and with headers only. */
const sliceWithTips = 8
const sliceOfHeaders = 512

const percentile: ParamCodec<number> = {
  doc: 'a number from 0 to 100',
  parse(value): number {
    if (typeof value !== 'number') throw wrongType(value, 'a number')
    return value
  },
}

const percentiles: ParamCodec<readonly number[]> = {
  doc: `list of at most ${maxPercentiles} ascending numbers from 0 to 100`,
  schema: { type: 'array', maxItems: maxPercentiles, items: { type: 'number', minimum: 0, maximum: 100 } },
  parse(value): readonly number[] {
    const list = listOf(percentile, maxPercentiles).parse(value)
    const isRising = list.every((each, index) => each >= (list[index - 1] ?? 0) && each <= 100)
    if (!isRising) throw new ParamError('invalid reward percentiles', 'senseless')
    return list
  },
}

/** Priority fee at each percentile of the block's gas. @param tips lowest first */
export function rewardsOf(tips: readonly PaidPriorityFee[], gasUsed: bigint, asked: readonly number[]): readonly bigint[] {
  let index = 0
  let passed = tips[0]?.gasUsed ?? 0n
  return asked.map((percent) => {
    const wanted = BigInt(Math.floor((Number(gasUsed) * percent) / 100))
    while (passed < wanted && index < tips.length - 1) {
      index++
      passed += tips[index]?.gasUsed ?? 0n
    }
    return tips[index]?.tip ?? 0n
  })
}

function feesOfBlock({ blocks }: EthContext, view: ChainView, { hash }: BlockId, asked: readonly number[]): BlockFees {
  const header = view.header(hash)
  if (header === undefined) throw prunedHistory()
  const { gasUsed, gasLimit, baseFeePerGas = 0n, excessBlobGas } = header
  const fees = {
    baseFee: baseFeePerGas,
    blobFee: blobFeeOf(excessBlobGas),
    gasUsedRatio: gasLimit === 0n ? 0 : Number(gasUsed) / Number(gasLimit),
  }
  if (asked.length === 0) return { ...fees, rewards: [] }
  const block = blocks.read(view, hash)
  if (block === undefined) throw prunedHistory()
  return { ...fees, rewards: rewardsOf(priorityFeesOf(block), gasUsed, asked) }
}

/** Fees of the block after `newest`: those of its child if it exists, else by the rules for the next block. */
function feesAfter({ fees }: EthContext, view: ChainView, newest: BlockId): FeeHistory['next'] {
  const header = view.header(newest.hash)
  const childHash = newest.number < view.heads.latest.number ? view.canonicalHash(newest.number + 1) : undefined
  const child = childHash === undefined ? undefined : view.header(childHash)
  if (header === undefined) return undefined
  return { baseFee: child?.baseFeePerGas ?? fees.nextBaseFee(header) ?? 0n, blobFee: blobFeeOf(header.excessBlobGas) }
}

type Range = { readonly from: number; readonly newest: BlockId; readonly next: FeeHistory['next'] }

function planRange(context: EthContext, count: number, at: BlockParam): Range {
  using view = context.chain.view()
  const head = view.heads.latest.number
  if (at.kind === 'number' && at.number > head) throw invalidParams(`request beyond head block: requested ${at.number}, head ${head}`)
  const newest = requireBlock(context, view, sealed(at))
  return { from: Math.max(0, newest.number + 1 - count), newest, next: feesAfter(context, view, newest) }
}

/** @returns undefined when the chain reorganised in between */
async function readRange(context: EthContext, { from, newest }: Range, asked: readonly number[]): Promise<BlockFees[] | undefined> {
  const slice = asked.length === 0 ? sliceOfHeaders : sliceWithTips
  const read: BlockFees[] = []
  for (let number = from; number <= newest.number; ) {
    if (number > from) await nextTurn()
    if (context.cancellation.isCancelled) throw timedOut()
    using view = context.chain.view()
    if (view.canonicalHash(newest.number) !== newest.hash) return undefined
    for (const end = Math.min(newest.number + 1, number + slice); number < end; number++) {
      const hash = view.canonicalHash(number)
      if (hash === undefined) throw prunedHistory()
      read.push(feesOfBlock(context, view, { hash, number }, asked))
    }
  }
  return read
}

export const feeHistory = ethMethod({
  name: 'eth_feeHistory',
  doc: `Base fees, gas used ratios, and priority fees by percentile of gas, for at most ${maxBlocks} blocks; and the base fee of the block after them.`,
  params: [
    param('count', gasQuantity),
    param('newest', blockNumberOrTag),
    optionalParam<readonly number[] | undefined>('percentiles', percentiles, undefined, 'no priority fees'),
  ],
  result: feeHistoryResult,
  cost: 'range-read',
  example: { params: ['0x1', 'latest', [50]] },
  async run(context, count, at, asked): Promise<FeeHistory> {
    const hasRewards = asked !== undefined
    if (count === 0n) return { oldest: 0, blocks: [], next: undefined, hasRewards }
    const blocksAsked = count < BigInt(maxBlocks) ? Number(count) : maxBlocks
    return await onSteadyChain(async () => {
      const range = planRange(context, blocksAsked, at)
      const blocks = await readRange(context, range, asked ?? [])
      return blocks && { oldest: range.from, blocks, next: range.next, hasRewards }
    })
  },
})
