import { decodeRlp, encodeRlp, encodeRlpList, RlpError, type RlpItem, rlpList } from '#lib/rlp'
import { encodeHeader, type Header, headerFromRlp } from './header.ts'
import { encodeWithdrawal, type Withdrawal } from './withdrawal.ts'

/**
 * A block: its header and EIP-2718 transactions. OP-Stack blocks have no ommers, and an empty list of withdrawals from Canyon on. An
 * Ethereum block has both lists; absent means none.
 */
export type Block = {
  readonly header: Header
  readonly transactions: readonly Uint8Array[]
  readonly ommers?: readonly Header[]
  readonly withdrawals?: readonly Withdrawal[]
}

/** Encodes a transaction for a block's RLP: a legacy transaction is a list, a typed one a byte string. */
const transactionItem = (raw: Uint8Array): Uint8Array => ((raw[0] ?? 0) >= 0xc0 ? raw : encodeRlp(raw))

export function encodeBlock(block: Block): Uint8Array {
  return encodeRlpList([encodeHeader(block.header), encodeRlpList(block.transactions.map(transactionItem)), ...otherLists(block)])
}

/** Encodes the lists that follow the transactions. */
function otherLists({ header, ommers = [], withdrawals = [] }: Block): Uint8Array[] {
  const lists = [encodeRlpList(ommers.map(encodeHeader))]
  if (header.withdrawalsRoot !== undefined) lists.push(encodeRlpList(withdrawals.map(encodeWithdrawal)))
  return lists
}

/** Returns the length of the RLP prefix for `content` bytes. */
function prefixSize(content: number): number {
  if (content < 56) return 1
  return content < 0x100 ? 2 : content < 0x10000 ? 3 : content < 0x1000000 ? 4 : 5
}

/** Returns the length of `encodeBlock` without encoding the transactions. */
export function encodedBlockSize(block: Block): number {
  const { header, transactions } = block
  let listed = 0
  for (const raw of transactions) {
    const isItself = (raw[0] ?? 0) >= 0xc0 || raw.length === 1
    listed += isItself ? raw.length : prefixSize(raw.length) + raw.length
  }
  const isPlain = block.ommers === undefined && block.withdrawals === undefined
  const others = isPlain ? (header.withdrawalsRoot === undefined ? 1 : 2) : otherLists(block).reduce((sum, { length }) => sum + length, 0)
  const content = encodeHeader(header).length + prefixSize(listed) + listed + others
  return prefixSize(content) + content
}

/** Returns the EIP-2718 bytes of a transaction; a typed one starts with a byte below 0x80. */
function transactionFromItem(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return encodeRlp(item)
  if ((item[0] ?? 0xff) >= 0x80) throw new RlpError('transaction without a type in a byte string')
  return item
}

function requireEmpty(item: RlpItem | undefined, what: string): void {
  if (rlpList(item, what).length > 0) throw new RlpError(`block with ${what}`)
}

/** Decodes an OP-Stack block. Throws RlpError on other bytes, and on blocks with ommers or withdrawals. */
export function decodeBlock(bytes: Uint8Array): Block {
  const [first, transactions, ommers, ...rest] = rlpList(decodeRlp(bytes), 'block')
  if (first === undefined) throw new RlpError('block without header')
  const header = headerFromRlp(first)
  requireEmpty(ommers, 'ommers')
  if (rest.length !== (header.withdrawalsRoot === undefined ? 0 : 1)) throw new RlpError(`block of ${rest.length + 3} fields`)
  if (rest.length > 0) requireEmpty(rest[0], 'withdrawals')
  return { header, transactions: rlpList(transactions, 'transactions').map(transactionFromItem) }
}
