import { toQuantity } from '#lib/hex'
import { type Block, encodedBlockSize } from '#types/block'
import { hashHeader } from '#types/header'
import { headerToJson } from '#types/headerJson'
import type { Hash } from '#types/ids'
import type { Withdrawal } from '#types/withdrawal'
import type { Json } from '../json.ts'
import type { HeadBlock } from '../ports.ts'
import type { ResultCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'
import { type MinedTransaction, transactionResult } from './transaction.ts'

export type MinedBlock = {
  readonly hash: Hash
  readonly block: Block
  readonly transactions:
    | { readonly kind: 'hashes'; readonly hashes: readonly Hash[] }
    | { readonly kind: 'full'; readonly full: readonly MinedTransaction[] }
}

const withdrawalResult = ({ index, validatorIndex, address, amountGwei }: Withdrawal): Json => ({
  index: toQuantity(index),
  validatorIndex: toQuantity(validatorIndex),
  address,
  amount: toQuantity(amountGwei),
})

/** What subscribers to heads get: the header, and how large its block is. */
export const headResult: ResultCodec<HeadBlock> = {
  doc: 'header of a block, with its size',
  schema: refTo('Header'),
  encode: ({ hash, block }) => ({ ...headerToJson(hash, block.header), size: toQuantity(encodedBlockSize(block)) }),
}

export const blockResult: ResultCodec<MinedBlock> = {
  doc: 'block, with transaction hashes or whole transactions',
  schema: refTo('Block'),
  encode: ({ hash, block, transactions }) => ({
    ...headerToJson(hash, block.header),
    size: toQuantity(encodedBlockSize(block)),
    uncles: (block.ommers ?? []).map(hashHeader),
    ...(block.header.withdrawalsRoot !== undefined && { withdrawals: (block.withdrawals ?? []).map(withdrawalResult) }),
    transactions: transactions.kind === 'hashes' ? transactions.hashes : transactions.full.map((each) => transactionResult.encode(each)),
  }),
}
