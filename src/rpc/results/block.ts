import { toHex, toQuantity } from '#lib/hex'
import { type Block, encodedBlockSize } from '#types/block'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Json } from '../json.ts'
import type { HeadBlock } from '../ports.ts'
import type { ResultCodec } from '../registry.ts'
import { type MinedTransaction, transactionResult } from './transaction.ts'

export type MinedBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly transactions:
    | { readonly kind: 'hashes'; readonly hashes: readonly Hash[] }
    | { readonly kind: 'full'; readonly full: readonly MinedTransaction[] }
}

function laterFields(header: Header): Record<string, Json> {
  return {
    ...(header.baseFeePerGas !== undefined && { baseFeePerGas: toQuantity(header.baseFeePerGas) }),
    ...(header.withdrawalsRoot !== undefined && { withdrawalsRoot: header.withdrawalsRoot }),
    ...(header.blobGasUsed !== undefined && { blobGasUsed: toQuantity(header.blobGasUsed) }),
    ...(header.excessBlobGas !== undefined && { excessBlobGas: toQuantity(header.excessBlobGas) }),
    ...(header.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: header.parentBeaconBlockRoot }),
    ...(header.requestsHash !== undefined && { requestsHash: header.requestsHash }),
  }
}

const headerResult = (hash: Hash, header: Header): Record<string, Json> => ({
  hash,
  parentHash: header.parentHash,
  sha3Uncles: header.ommersHash,
  miner: header.beneficiary,
  stateRoot: header.stateRoot,
  transactionsRoot: header.transactionsRoot,
  receiptsRoot: header.receiptsRoot,
  logsBloom: toHex(header.logsBloom),
  difficulty: toQuantity(header.difficulty),
  number: toQuantity(header.number),
  gasLimit: toQuantity(header.gasLimit),
  gasUsed: toQuantity(header.gasUsed),
  timestamp: toQuantity(header.timestamp),
  extraData: toHex(header.extraData),
  mixHash: header.mixHash,
  nonce: toHex(header.nonce),
  ...laterFields(header),
})

/** What subscribers to heads get: the header, and how large its block is. */
export const headResult: ResultCodec<HeadBlock> = {
  doc: 'header of a block, with its size',
  encode: ({ hash, block }) => ({ ...headerResult(hash, block.header), size: toQuantity(encodedBlockSize(block)) }),
}

export const blockResult: ResultCodec<MinedBlock> = {
  doc: 'block, with transaction hashes or whole transactions',
  encode: ({ hash, block, transactions }) => ({
    ...headerResult(hash, block.header),
    size: toQuantity(encodedBlockSize(block)),
    uncles: [],
    ...(block.header.withdrawalsRoot !== undefined && { withdrawals: [] }),
    transactions: transactions.kind === 'hashes' ? transactions.hashes : transactions.full.map((each) => transactionResult.encode(each)),
  }),
}
