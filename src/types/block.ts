import { decodeRlp, encodeRlp, encodeRlpList, RlpError, type RlpItem, rlpList } from '#lib/rlp'
import { encodeHeader, type Header, headerFromRlp } from './header.ts'

/** A block: its header and EIP-2718 transactions. Ommers are always empty here, withdrawals present (and empty) from Canyon. */
export type Block = { readonly header: Header; readonly transactions: readonly Uint8Array[] }

/** In a block's RLP a legacy transaction stands as a list, a typed one as a byte string. */
const transactionItem = (raw: Uint8Array): Uint8Array => ((raw[0] ?? 0) >= 0xc0 ? raw : encodeRlp(raw))

export function encodeBlock(block: Block): Uint8Array {
  const parts = [encodeHeader(block.header), encodeRlpList(block.transactions.map(transactionItem)), encodeRlp([])]
  if (block.header.withdrawalsRoot !== undefined) parts.push(encodeRlp([]))
  return encodeRlpList(parts)
}

/** What RLP puts before content of so many bytes. */
function prefixSize(content: number): number {
  if (content < 56) return 1
  return content < 0x100 ? 2 : content < 0x10000 ? 3 : content < 0x1000000 ? 4 : 5
}

/** Bytes of `encodeBlock`, without encoding the transactions. */
export function encodedBlockSize({ header, transactions }: Block): number {
  let listed = 0
  for (const raw of transactions) {
    const isItself = (raw[0] ?? 0) >= 0xc0 || raw.length === 1
    listed += isItself ? raw.length : prefixSize(raw.length) + raw.length
  }
  const emptyLists = header.withdrawalsRoot === undefined ? 1 : 2
  const content = encodeHeader(header).length + prefixSize(listed) + listed + emptyLists
  return prefixSize(content) + content
}

/** The EIP-2718 bytes of a transaction; a typed one begins with a byte below 0x80. */
function transactionFromItem(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return encodeRlp(item)
  if ((item[0] ?? 0xff) >= 0x80) throw new RlpError('transaction without a type in a byte string')
  return item
}

function requireEmpty(item: RlpItem | undefined, what: string): void {
  if (rlpList(item, what).length > 0) throw new RlpError(`block with ${what}`)
}

/** RlpError when the bytes are not a block, or one with ommers or withdrawals. */
export function decodeBlock(bytes: Uint8Array): Block {
  const [first, transactions, ommers, ...rest] = rlpList(decodeRlp(bytes), 'block')
  if (first === undefined) throw new RlpError('block without header')
  const header = headerFromRlp(first)
  requireEmpty(ommers, 'ommers')
  if (rest.length !== (header.withdrawalsRoot === undefined ? 0 : 1)) throw new RlpError(`block of ${rest.length + 3} fields`)
  if (rest.length > 0) requireEmpty(rest[0], 'withdrawals')
  return { header, transactions: rlpList(transactions, 'transactions').map(transactionFromItem) }
}
