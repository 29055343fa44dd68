import type { Hash } from '#types/ids'
import type { ByteList } from '../../../byteList.ts'
import { type BlockParam, blockId, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { flag, hash, orNull, quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { optionalParam, param } from '../../../registry.ts'
import { blockResult } from '../../../results/block.ts'
import { receiptResult } from '../../../results/receipt.ts'
import { bytesOrNull, writtenList } from '../../../results/text.ts'
import { ethMethod } from '../../define.ts'
import { findBlock } from '../atBlock.ts'

const full = optionalParam('full', flag, false, 'false: transaction hashes only')

function blockText(context: EthContext, at: BlockParam, isFull: boolean): ByteList | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  const decoded = id && context.blocks.read(view, id.hash)
  return decoded?.text.block(isFull ? 'full' : 'hashes')
}

export const getBlockByNumber = ethMethod({
  name: 'eth_getBlockByNumber',
  doc: 'A canonical block. `pending`: the newest pending block, with zero hash and no size; without one, the sealed block of --pending.fallback.',
  params: [param('block', blockNumberOrTag), full],
  result: bytesOrNull(blockResult),
  cost: 'block-read',
  example: { params: ['0xffffff', false], result: null },
  run: blockText,
})

/** JSON of a block by its hash, canonical or not. */
export function blockOfHash(context: EthContext, of: Hash, isFull: boolean): ByteList | undefined {
  return blockText(context, { kind: 'hash', hash: of, mustBeCanonical: false }, isFull)
}

export const getBlockByHash = ethMethod({
  name: 'eth_getBlockByHash',
  doc: 'A block by its hash, canonical or not.',
  params: [param('hash', hash), full],
  result: bytesOrNull(blockResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, false], result: null },
  run: blockOfHash,
})

function receiptsOf(context: EthContext, at: BlockParam): ByteList | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  return id && context.blocks.read(view, id.hash)?.text.receipts()
}

export const getBlockReceipts = ethMethod({
  name: 'eth_getBlockReceipts',
  doc: 'Receipts of all transactions of a block, in order.',
  params: [param('block', blockId)],
  result: bytesOrNull(writtenList(receiptResult)),
  cost: 'block-read',
  example: { params: ['0x0'], result: [] },
  run: receiptsOf,
})

function transactionCount(context: EthContext, at: BlockParam): number | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  return id && context.blocks.read(view, id.hash)?.count
}

export const getBlockTransactionCountByNumber = ethMethod({
  name: 'eth_getBlockTransactionCountByNumber',
  doc: 'Number of transactions in a canonical block.',
  params: [param('block', blockNumberOrTag)],
  result: orNull(quantity),
  cost: 'block-read',
  example: { params: ['0xffffff'], result: null },
  run: transactionCount,
})

export const getBlockTransactionCountByHash = ethMethod({
  name: 'eth_getBlockTransactionCountByHash',
  doc: 'Number of transactions in a block, canonical or not.',
  params: [param('hash', hash)],
  result: orNull(quantity),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => transactionCount(context, { kind: 'hash', hash: of, mustBeCanonical: false }),
})
