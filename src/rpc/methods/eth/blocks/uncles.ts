import { type BlockParam, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { gasQuantity, hash, orNull, quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { HeadBlock } from '../../../ports.ts'
import { param } from '../../../registry.ts'
import { headResult } from '../../../results/block.ts'
import { ethMethod } from '../../define.ts'
import { findBlock } from '../atBlock.ts'

/** Number of uncles: always 0; undefined for an unknown block. */
function uncleCount(context: EthContext, at: BlockParam): number | undefined {
  using view = context.chain.view()
  return findBlock(context, view, at) && 0
}

const noUncle = (): HeadBlock | undefined => undefined

export const getUncleCountByBlockNumber = ethMethod({
  name: 'eth_getUncleCountByBlockNumber',
  doc: 'Number of uncles of a canonical block. Always 0: this chain has none.',
  params: [param('block', blockNumberOrTag)],
  result: orNull(quantity),
  cost: 'point-read',
  example: { params: ['0xffffff'], result: null },
  run: uncleCount,
})

export const getUncleCountByBlockHash = ethMethod({
  name: 'eth_getUncleCountByBlockHash',
  doc: 'Number of uncles of a block. Always 0: this chain has none.',
  params: [param('hash', hash)],
  result: orNull(quantity),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => uncleCount(context, { kind: 'hash', hash: of, mustBeCanonical: false }),
})

export const getUncleByBlockNumberAndIndex = ethMethod({
  name: 'eth_getUncleByBlockNumberAndIndex',
  doc: 'An uncle of a canonical block. Always null: this chain has none.',
  params: [param('block', blockNumberOrTag), param('index', gasQuantity)],
  result: orNull(headResult),
  cost: 'instant',
  example: { params: ['0x0', '0x0'], result: null },
  run: noUncle,
})

export const getUncleByBlockHashAndIndex = ethMethod({
  name: 'eth_getUncleByBlockHashAndIndex',
  doc: 'An uncle of a block. Always null: this chain has none.',
  params: [param('hash', hash), param('index', gasQuantity)],
  result: orNull(headResult),
  cost: 'instant',
  example: { params: [`0x${'11'.repeat(32)}`, '0x0'], result: null },
  run: noUncle,
})
