import type { Hash } from '#types/ids'
import type { TransactionPool } from '#types/transactionPool'
import { type BlockParam, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { bytes, gasQuantity, hash, orNull } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { param } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { findBlock } from '../atBlock.ts'

function minedBytes(context: EthContext, of: Hash): Uint8Array | undefined {
  using view = context.chain.view()
  const place = view.transaction(of)
  return place && context.blocks.read(view, place.block.hash)?.of.block.transactions[place.index]
}

/** Reads the pool, then the chain: the transaction may enter a block in between. */
async function bytesWithPool(context: EthContext, pool: TransactionPool, of: Hash): Promise<Uint8Array | undefined> {
  return (await pool.get(of))?.raw ?? minedBytes(context, of)
}

export const getRawTransactionByHash = ethMethod({
  name: 'eth_getRawTransactionByHash',
  doc: 'EIP-2718 bytes of a transaction of the canonical chain or of the pool.',
  params: [param('hash', hash)],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: (context, of) => minedBytes(context, of) ?? (context.pool && bytesWithPool(context, context.pool, of)),
})

function bytesAt(context: EthContext, at: BlockParam, index: bigint): Uint8Array | undefined {
  using view = context.chain.view()
  const id = findBlock(context, view, at)
  const transactions = id && context.blocks.read(view, id.hash)?.of.block.transactions
  return transactions && index < BigInt(transactions.length) ? transactions[Number(index)] : undefined
}

export const getRawTransactionByBlockNumberAndIndex = ethMethod({
  name: 'eth_getRawTransactionByBlockNumberAndIndex',
  doc: 'EIP-2718 bytes of a transaction by its index in a canonical block.',
  params: [param('block', blockNumberOrTag), param('index', gasQuantity)],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: ['0xffffff', '0x0'], result: null },
  run: bytesAt,
})

export const getRawTransactionByBlockHashAndIndex = ethMethod({
  name: 'eth_getRawTransactionByBlockHashAndIndex',
  doc: 'EIP-2718 bytes of a transaction by its index in a block, canonical or not.',
  params: [param('hash', hash), param('index', gasQuantity)],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`, '0x0'], result: null },
  run: (context, of, index) => bytesAt(context, { kind: 'hash', hash: of, mustBeCanonical: false }, index),
})
