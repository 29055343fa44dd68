import type { Hash } from '#types/ids'
import { type BlockParam, blockId, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { flag, gasQuantity, hash, orNull, quantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { HeadBlock } from '../../../ports.ts'
import { type Method, optionalParam, param } from '../../../registry.ts'
import { blockResult, headResult } from '../../../results/block.ts'
import type { ByteList } from '../../../results/byteList.ts'
import { receiptResult } from '../../../results/receipt.ts'
import { bytesOrNull, writtenList } from '../../../results/text.ts'
import { ethMethod } from '../../define.ts'
import { blockIdAt, ofHash, readBlock } from '../atBlock.ts'
import { byNumberAndHash } from './byNumberAndHash.ts'

const headers = byNumberAndHash({
  name: (by) => `eth_getHeaderBy${by}`,
  doc: (block) => `Header of ${block}, with the size of the block.`,
  params: [],
  result: orNull(headResult),
  cost: 'block-read',
  example: [],
  run(context, at): HeadBlock | undefined {
    const found = readBlock(context, at)
    return found && { hash: found.place.hash, block: found.of.block }
  },
})

const full = optionalParam('full', flag, false, 'false: transaction hashes only')

const blockText = (context: EthContext, at: BlockParam, isFull: boolean): ByteList | undefined =>
  readBlock(context, at)?.text.block(isFull ? 'full' : 'hashes')

const getBlockByNumber = ethMethod({
  name: 'eth_getBlockByNumber',
  doc: 'A canonical block. `pending`: the newest pending block, with zero hash and no size; without one, the sealed block of --pending.fallback; from Denim on, the latest block.',
  params: [param('block', blockNumberOrTag), full],
  result: bytesOrNull(blockResult),
  cost: 'block-read',
  example: { params: ['0xffffff', false], result: null },
  run: blockText,
})

/** JSON of a block by its hash, canonical or not. */
export const blockOfHash = (context: EthContext, of: Hash, isFull: boolean): ByteList | undefined => blockText(context, ofHash(of), isFull)

const getBlockByHash = ethMethod({
  name: 'eth_getBlockByHash',
  doc: 'A block by its hash, canonical or not.',
  params: [param('hash', hash), full],
  result: bytesOrNull(blockResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, false], result: null },
  run: blockOfHash,
})

const getBlockReceipts = ethMethod({
  name: 'eth_getBlockReceipts',
  doc: 'Receipts of all transactions of a block, in order.',
  params: [param('block', blockId)],
  result: bytesOrNull(writtenList(receiptResult)),
  cost: 'block-read',
  example: { params: ['0x0'], result: [] },
  run: (context, at) => readBlock(context, at)?.text.receipts(),
})

const transactionCounts = byNumberAndHash({
  name: (by) => `eth_getBlockTransactionCountBy${by}`,
  doc: (block) => `Number of transactions in ${block}.`,
  params: [],
  result: orNull(quantity),
  cost: 'block-read',
  example: [],
  run: (context, at) => readBlock(context, at)?.count,
})

const uncleCounts = byNumberAndHash({
  name: (by) => `eth_getUncleCountByBlock${by}`,
  doc: (block) => `Number of uncles of ${block}. Always 0: this chain has none.`,
  params: [],
  result: orNull(quantity),
  cost: 'point-read',
  example: [],
  run: (context, at) => blockIdAt(context, at) && 0,
})

const uncles = byNumberAndHash({
  name: (by) => `eth_getUncleByBlock${by}AndIndex`,
  doc: (block) => `An uncle of ${block}. Always null: this chain has none.`,
  params: [param('index', gasQuantity)],
  result: orNull(headResult),
  cost: 'instant',
  example: ['0x0'],
  run: () => undefined,
})

export const blockMethods: readonly Method<EthContext>[] = [
  ...headers,
  ...[getBlockByNumber, getBlockByHash, getBlockReceipts],
  ...transactionCounts,
  ...uncleCounts,
  ...uncles,
]
