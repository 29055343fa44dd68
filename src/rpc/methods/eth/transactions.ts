import type { Hash } from '#types/ids'
import { decodeTransaction } from '#types/transaction'
import { type BlockParam, blockNumberOrTag } from '../../codecs/blockId.ts'
import { gasQuantity, hash, orNull } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { TransactionPool } from '../../poolPorts.ts'
import type { ChainBlock, ChainReceipt } from '../../ports.ts'
import { param } from '../../registry.ts'
import { receiptResult } from '../../results/receipt.ts'
import { type AnyTransaction, type MinedTransaction, pendingTransaction, transactionResult } from '../../results/transaction.ts'
import { ethMethod } from '../define.ts'
import { findBlock } from './atBlock.ts'
import { blockWithReceipts, minedReceipt, minedTransaction } from './mined.ts'

type Read<T> = (of: ChainBlock, receipts: readonly ChainReceipt[], index: number) => T | undefined

function onTransaction<T>(context: EthContext, of: Hash, read: Read<T>): T | undefined {
  using view = context.chain.view()
  const place = view.transaction(of)
  const found = place && blockWithReceipts(view, place.block.hash)
  return place && found && read(found.of, found.receipts, place.index)
}

/** Of the chain, else of the pool; it may have got into a block while the pool was asked. */
async function withPool(context: EthContext, pool: TransactionPool, of: Hash): Promise<AnyTransaction | undefined> {
  const pooled = await pool.get(of)
  if (pooled === undefined) return onTransaction(context, of, minedTransaction)
  return pendingTransaction(decodeTransaction(pooled.raw), pooled.hash, pooled.sender)
}

export const getTransactionByHash = ethMethod({
  name: 'eth_getTransactionByHash',
  doc: 'A transaction of the canonical chain, or one that waits in the pool: that has no block, hash and number of its block are null.',
  params: [param('hash', hash)],
  result: orNull(transactionResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run(context, of): AnyTransaction | undefined | Promise<AnyTransaction | undefined> {
    const mined = onTransaction(context, of, minedTransaction)
    return mined ?? (context.pool && withPool(context, context.pool, of))
  },
})

function atIndex(context: EthContext, at: BlockParam, index: bigint): MinedTransaction | undefined {
  using view = context.chain.view()
  const id = findBlock(view, at)
  const found = id && blockWithReceipts(view, id.hash)
  return found && index < BigInt(found.receipts.length) ? minedTransaction(found.of, found.receipts, Number(index)) : undefined
}

export const getTransactionByBlockNumberAndIndex = ethMethod({
  name: 'eth_getTransactionByBlockNumberAndIndex',
  doc: 'A transaction by its place in a canonical block.',
  params: [param('block', blockNumberOrTag), param('index', gasQuantity)],
  result: orNull(transactionResult),
  cost: 'block-read',
  example: { params: ['0xffffff', '0x0'], result: null },
  run: atIndex,
})

export const getTransactionByBlockHashAndIndex = ethMethod({
  name: 'eth_getTransactionByBlockHashAndIndex',
  doc: 'A transaction by its place in a block, canonical or not.',
  params: [param('hash', hash), param('index', gasQuantity)],
  result: orNull(transactionResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, '0x0'], result: null },
  run: (context, of, index) => atIndex(context, { kind: 'hash', hash: of, mustBeCanonical: false }, index),
})

export const getTransactionReceipt = ethMethod({
  name: 'eth_getTransactionReceipt',
  doc: 'What a transaction of the canonical chain did: status, gas, logs, and what it paid for L1.',
  params: [param('hash', hash)],
  result: orNull(receiptResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => onTransaction(context, of, minedReceipt),
})
