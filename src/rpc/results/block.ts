import { timeMsOfBlock } from '#chainspec/baseTime'
import { toQuantity } from '#lib/hex'
import { type Block, encodedBlockSize } from '#types/block'
import { hashHeader } from '#types/header'
import { headerToJson } from '#types/headerJson'
import { type Hash, zeroHash } from '#types/ids'
import type { Withdrawal } from '#types/withdrawal'
import type { Json } from '../json.ts'
import type { HeadBlock } from '../ports.ts'
import { refTo } from '../reference/schemas.ts'
import type { ResultCodec } from '../registry.ts'
import { hexListText, listText, type WrittenCodec, written } from './text.ts'
import { type MinedTransaction, transactionText } from './transaction.ts'

export type MinedBlock = {
  /** zero for a pending block */
  readonly hash: Hash
  readonly block: Block
  /** size of its RLP; absent for a pending block */
  readonly sizeBytes?: number
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

/** The time of a sealed Denim block in milliseconds. A pending block has none. */
function timeJson(hash: Hash, block: Block): { readonly timestampMs?: string } {
  const timeMs = hash === zeroHash ? undefined : timeMsOfBlock(block)
  return timeMs === undefined ? {} : { timestampMs: toQuantity(timeMs) }
}

/** Header with the size of its block, as subscribers to heads get it. A pending block has the zero hash and no size. */
export const headResult: ResultCodec<HeadBlock> = {
  doc: 'header of a block, with its size',
  schema: refTo('Header'),
  encode: ({ hash, block }) => ({
    ...headerToJson(hash, block.header),
    ...timeJson(hash, block),
    ...(hash !== zeroHash && { size: toQuantity(encodedBlockSize(block)) }),
  }),
}

/** JSON of a block up to its transactions; the transactions and a closing brace follow. */
export function blockHeadText({ hash, block, sizeBytes }: Omit<MinedBlock, 'transactions'>): string {
  const head = JSON.stringify({
    ...headerToJson(hash, block.header),
    ...timeJson(hash, block),
    ...(sizeBytes !== undefined && { size: toQuantity(sizeBytes) }),
    uncles: (block.ommers ?? []).map(hashHeader),
    ...(block.header.withdrawalsRoot !== undefined && { withdrawals: (block.withdrawals ?? []).map(withdrawalResult) }),
  })
  return `${head.slice(0, -1)},"transactions":`
}

function blockText(of: MinedBlock): string {
  const { transactions } = of
  const all = transactions.kind === 'hashes' ? hexListText(transactions.hashes) : listText(transactions.full, transactionText)
  return `${blockHeadText(of)}${all}}`
}

export const blockResult: WrittenCodec<MinedBlock> = written(
  'block, with transaction hashes or whole transactions',
  refTo('Block'),
  blockText,
)
