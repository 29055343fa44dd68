import type { Hash } from '#types/ids'
import type { TransactionPool } from '#types/transactionPool'
import { bytes, gasQuantity, hash, orNull } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { prunedHistory } from '../../../errors.ts'
import { type Method, param } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { readBlock } from '../atBlock.ts'
import { byNumberAndHash } from './byNumberAndHash.ts'

/** @throws RpcError 4444 when the block of the transaction was pruned */
function minedBytes(context: EthContext, of: Hash): Uint8Array | undefined {
  using view = context.chain.view()
  const place = view.transaction(of)
  if (place === undefined) return undefined
  const found = view.block(place.block.hash)
  if (found === undefined) throw prunedHistory()
  return found.block.transactions[place.index]
}

/** Reads the chain, the pool, and the chain again: the transaction may enter a block in between. @throws RpcError 4444 when its block was pruned */
export function transactionBytes(context: EthContext, of: Hash): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  return minedBytes(context, of) ?? (context.pool && bytesWithPool(context, context.pool, of))
}

async function bytesWithPool(context: EthContext, pool: TransactionPool, of: Hash): Promise<Uint8Array | undefined> {
  return (await pool.get(of))?.raw ?? minedBytes(context, of)
}

const getRawTransactionByHash = ethMethod({
  name: 'eth_getRawTransactionByHash',
  doc: 'EIP-2718 bytes of a transaction of the canonical chain or of the pool.',
  params: [param('hash', hash)],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: transactionBytes,
})

const rawTransactionsAtIndex = byNumberAndHash({
  name: (by) => `eth_getRawTransactionByBlock${by}AndIndex`,
  doc: (block) => `EIP-2718 bytes of a transaction by its index in ${block}.`,
  params: [param('index', gasQuantity)],
  result: orNull(bytes),
  cost: 'point-read',
  example: ['0x0'],
  run: (context, at, index) => readBlock(context, at)?.of.block.transactions[Number(index)],
})

export const rawTransactionMethods: readonly Method<EthContext>[] = [getRawTransactionByHash, ...rawTransactionsAtIndex]
