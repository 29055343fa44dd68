import type { Hash } from '#types/ids'
import { decodeTransaction } from '#types/transaction'
import type { TransactionPool } from '#types/transactionPool'
import type { DecodedBlock } from '../../../cache/blockCache.ts'
import { gasQuantity, hash } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { type Method, param } from '../../../registry.ts'
import { receiptResult } from '../../../results/receipt.ts'
import { textOrNull } from '../../../results/text.ts'
import { pendingTransaction, transactionResult, transactionText } from '../../../results/transaction.ts'
import { ethMethod } from '../../define.ts'
import { readBlock } from '../atBlock.ts'
import { byNumberAndHash } from './byNumberAndHash.ts'

/** Reads the block of a transaction of the canonical chain or of a pending block. */
function onTransaction<T>(context: EthContext, of: Hash, read: (block: DecodedBlock, index: number) => T | undefined): T | undefined {
  using view = context.chain.view()
  const place = view.transaction(of)
  const block = place && context.blocks.read(view, place.block.hash)
  return block && read(block, place.index)
}

const minedText = ({ text }: DecodedBlock, index: number): string | undefined => text.transaction(index)

/** Reads the pool, then the chain again: the transaction may enter a block in between. */
async function withPool(context: EthContext, pool: TransactionPool, of: Hash): Promise<string | undefined> {
  const pooled = await pool.get(of)
  if (pooled === undefined) return onTransaction(context, of, minedText)
  return transactionText(pendingTransaction(decodeTransaction(pooled.raw), pooled.hash, pooled.sender))
}

export const getTransactionByHash = ethMethod({
  name: 'eth_getTransactionByHash',
  doc: 'A transaction of the canonical chain, of a pending block, or of the pool. In a pending block its block hash is null; in the pool its block hash and number are null.',
  params: [param('hash', hash)],
  result: textOrNull(transactionResult),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => onTransaction(context, of, minedText) ?? (context.pool && withPool(context, context.pool, of)),
})

const transactionsAtIndex = byNumberAndHash({
  name: (by) => `eth_getTransactionByBlock${by}AndIndex`,
  doc: (block) => `A transaction by its index in ${block}.`,
  params: [param('index', gasQuantity)],
  result: textOrNull(transactionResult),
  cost: 'point-read',
  example: ['0x0'],
  run: (context, at, index) => readBlock(context, at)?.text.transaction(Number(index)),
})

/** JSON of the receipt of a transaction of the canonical chain or of a pending block. */
export const minedReceiptOf = (context: EthContext, of: Hash): string | undefined =>
  onTransaction(context, of, ({ text }, index) => text.receipt(index))

const getTransactionReceipt = ethMethod({
  name: 'eth_getTransactionReceipt',
  doc: 'Receipt of a transaction: status, gas, logs and L1 fees. For a transaction that is preconfirmed in a pending block, the block hash is zero.',
  params: [param('hash', hash)],
  result: textOrNull(receiptResult),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: minedReceiptOf,
})

export const transactionMethods: readonly Method<EthContext>[] = [getTransactionByHash, getTransactionReceipt, ...transactionsAtIndex]
