import { type BlockParam, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { hash, orNull } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { HeadBlock } from '../../../ports.ts'
import { param } from '../../../registry.ts'
import { headResult } from '../../../results/block.ts'
import { ethMethod } from '../../define.ts'
import { findBlock } from '../atBlock.ts'

function headerOf(context: EthContext, at: BlockParam): HeadBlock | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  const found = id && context.blocks.read(view, id.hash)
  return found && { hash: found.place.hash, block: found.of.block }
}

export const getHeaderByNumber = ethMethod({
  name: 'eth_getHeaderByNumber',
  doc: 'Header of a canonical block, with the size of the block.',
  params: [param('block', blockNumberOrTag)],
  result: orNull(headResult),
  cost: 'block-read',
  example: { params: ['0xffffff'], result: null },
  run: headerOf,
})

export const getHeaderByHash = ethMethod({
  name: 'eth_getHeaderByHash',
  doc: 'Header of a block, canonical or not, with the size of the block.',
  params: [param('hash', hash)],
  result: orNull(headResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => headerOf(context, { kind: 'hash', hash: of, mustBeCanonical: false }),
})
