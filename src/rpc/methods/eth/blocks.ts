import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { type BlockParam, blockId, blockNumberOrTag } from '../../codecs/blockId.ts'
import { flag, hash, orNull, quantity, resultList } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { ChainView } from '../../ports.ts'
import { optionalParam, param } from '../../registry.ts'
import { blockResult, type MinedBlock } from '../../results/block.ts'
import { type MinedReceipt, receiptResult } from '../../results/receipt.ts'
import { ethMethod } from '../define.ts'
import { findBlock } from './atBlock.ts'
import { blockWithReceipts, minedReceipt, minedTransactions } from './mined.ts'

const full = optionalParam('full', flag, false, 'false: transaction hashes only')

function minedBlock(view: ChainView, id: BlockId | undefined, isFull: boolean): MinedBlock | undefined {
  if (id === undefined) return undefined
  if (isFull) {
    const found = blockWithReceipts(view, id.hash)
    return (
      found && {
        hash: id.hash,
        block: found.of.block,
        transactions: { kind: 'full', full: minedTransactions(found.of, found.receipts) },
      }
    )
  }
  const block = view.block(id.hash)?.block
  return block && { hash: id.hash, block, transactions: { kind: 'hashes', hashes: block.transactions.map(hashTransaction) } }
}

export const getBlockByNumber = ethMethod({
  name: 'eth_getBlockByNumber',
  doc: 'A canonical block.',
  params: [param('block', blockNumberOrTag), full],
  result: orNull(blockResult),
  cost: 'block-read',
  example: { params: ['0xffffff', false], result: null },
  run(context, at, isFull): MinedBlock | undefined {
    using view = context.chain.view()
    return minedBlock(view, findBlock(view, at), isFull)
  },
})

/** A block that the view has. */
export function blockOfHash(context: EthContext, of: Hash, isFull: boolean): MinedBlock | undefined {
  using view = context.chain.view()
  return minedBlock(view, findBlock(view, { kind: 'hash', hash: of, mustBeCanonical: false }), isFull)
}

export const getBlockByHash = ethMethod({
  name: 'eth_getBlockByHash',
  doc: 'A block, canonical or not.',
  params: [param('hash', hash), full],
  result: orNull(blockResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, false], result: null },
  run: blockOfHash,
})

function receiptsOf(context: EthContext, at: Parameters<typeof findBlock>[1]): readonly MinedReceipt[] | undefined {
  using view = context.chain.view()
  const id = findBlock(view, at)
  const found = id && blockWithReceipts(view, id.hash)
  return found?.receipts.flatMap((_receipt, index) => minedReceipt(found.of, found.receipts, index) ?? [])
}

export const getBlockReceipts = ethMethod({
  name: 'eth_getBlockReceipts',
  doc: 'Receipts of all transactions of a block, in order.',
  params: [param('block', blockId)],
  result: orNull(resultList(receiptResult)),
  cost: 'block-read',
  example: { params: ['0x0'], result: [] },
  run: receiptsOf,
})

function transactionCount(context: EthContext, at: BlockParam): number | undefined {
  using view = context.chain.view()
  const id = findBlock(view, at)
  return id && view.block(id.hash)?.block.transactions.length
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
