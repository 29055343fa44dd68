import type { Hash } from '#types/ids'
import { type BlockParam, blockId, blockNumberOrTag } from '../../codecs/blockId.ts'
import { flag, hash, orNull, quantity } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { optionalParam, param } from '../../registry.ts'
import { blockResult, type MinedBlock } from '../../results/block.ts'
import { type MinedReceipt, receiptResult } from '../../results/receipt.ts'
import { writtenList, writtenOrNull } from '../../results/text.ts'
import { ethMethod } from '../define.ts'
import { findBlock } from './atBlock.ts'

const full = optionalParam('full', flag, false, 'false: transaction hashes only')

function minedBlock(context: EthContext, at: BlockParam, isFull: boolean): MinedBlock | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  const decoded = id && context.blocks.read(view, id.hash)
  return decoded?.shown(isFull ? 'full' : 'hashes')
}

export const getBlockByNumber = ethMethod({
  name: 'eth_getBlockByNumber',
  doc: 'A canonical block.',
  params: [param('block', blockNumberOrTag), full],
  result: writtenOrNull(blockResult),
  cost: 'block-read',
  example: { params: ['0xffffff', false], result: null },
  run: minedBlock,
})

/** A block that the view has. */
export function blockOfHash(context: EthContext, of: Hash, isFull: boolean): MinedBlock | undefined {
  return minedBlock(context, { kind: 'hash', hash: of, mustBeCanonical: false }, isFull)
}

export const getBlockByHash = ethMethod({
  name: 'eth_getBlockByHash',
  doc: 'A block, canonical or not.',
  params: [param('hash', hash), full],
  result: writtenOrNull(blockResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, false], result: null },
  run: blockOfHash,
})

function receiptsOf(context: EthContext, at: BlockParam): readonly MinedReceipt[] | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  return id && context.blocks.read(view, id.hash)?.minedReceipts()
}

export const getBlockReceipts = ethMethod({
  name: 'eth_getBlockReceipts',
  doc: 'Receipts of all transactions of a block, in order.',
  params: [param('block', blockId)],
  result: writtenOrNull(writtenList(receiptResult)),
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
