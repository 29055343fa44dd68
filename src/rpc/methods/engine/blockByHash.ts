import { Buffer } from 'node:buffer'
import { timeMsOfBlock } from '#chainspec/baseTime'
import { type Block, encodedBlockSize } from '#types/block'
import { type Address, type Hash, zeroAddress } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, hashTransaction, type Transaction } from '#types/transaction'
import { flag, hash } from '../../codecs/values.ts'
import { optionalParam, param } from '../../registry.ts'
import { blockResult, type MinedBlock } from '../../results/block.ts'
import { ByteList } from '../../results/byteList.ts'
import { bytesOrNull } from '../../results/text.ts'
import { blockOfHash } from '../eth/blocks/blocks.ts'
import { engineMethod } from './engineMethod.ts'

/** Sender of a transaction in a valid block. */
const senderOf = (transaction: Transaction): Address =>
  transaction.type === depositType ? transaction.from : (recoverSender(transaction) ?? zeroAddress)

/** A block that is not on the canonical chain. Its receipts are unknown, and with them the nonces of deposits. */
function minedBeside(blockHash: Hash, block: Block, isFull: boolean): MinedBlock {
  const { header, transactions } = block
  const sizeBytes = encodedBlockSize(block)
  if (!isFull) return { hash: blockHash, block, sizeBytes, transactions: { kind: 'hashes', hashes: transactions.map(hashTransaction) } }
  const place = { hash: blockHash, number: header.number, baseFee: header.baseFeePerGas ?? 0n, timeMs: timeMsOfBlock(block) }
  const full = transactions.map((raw, index) => {
    const transaction = decodeTransaction(raw)
    return { transaction, hash: hashTransaction(raw), from: senderOf(transaction), block: place, index, receipt: undefined }
  })
  return { hash: blockHash, block, sizeBytes, transactions: { kind: 'full', full } }
}

/** Replaces the public method on the engine port: also finds payloads that no forkchoice update has named. */
export const engineGetBlockByHash = engineMethod({
  name: 'eth_getBlockByHash',
  doc: 'A block by its hash, including blocks known from newPayload or a build that no forkchoice update has named.',
  params: [param('hash', hash), optionalParam('full', flag, false, 'false: transaction hashes only')],
  result: bytesOrNull(blockResult),
  cost: 'block-read',
  example: { params: [`0x${'11'.repeat(32)}`, false], result: null },
  async run(context, of, isFull): Promise<ByteList | undefined> {
    const found = blockOfHash(context, of, isFull)
    if (found) return found
    const block = await context.engine.block(of)
    return block && new ByteList([Buffer.from(blockResult.text(minedBeside(of, block, isFull)), 'latin1')])
  },
})
