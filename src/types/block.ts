import { decodeRlp, encodeRlp, encodeRlpList, RlpError, type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
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

/** RlpError when the bytes are not a block. */
export function decodeBlock(bytes: Uint8Array): Block {
  const [header, transactions] = rlpList(decodeRlp(bytes), 'block')
  if (header === undefined) throw new RlpError('block without header')
  const raw = (item: RlpItem): Uint8Array => (item instanceof Uint8Array ? rlpBytes(item, 'transaction') : encodeRlp(item))
  return { header: headerFromRlp(header), transactions: rlpList(transactions, 'transactions').map(raw) }
}
