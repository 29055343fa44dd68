import { encodeRlp, encodeRlpList, RlpError, rlpHead, rlpScalar, splitRlpList } from '#lib/rlp'
import { orderedRoot } from '#trie/orderedRoot'
import type { Header } from '#types/header'
import { emptyOmmersHash } from '#types/ids'
import { logToRlp } from '#types/log'
import { encodeReceipt, type Receipt } from '#types/receipt'
import { type EthVersion, emptyList, isEmptyList } from './messages.ts'

/** Most transactions of a body that is read; a body of 10 MiB cannot have as many valid ones. */
const maxTransactions = 100_000

/** Encodes the body of an OP-Stack block. */
export function encodeBody(header: Pick<Header, 'withdrawalsRoot'>, transactions: readonly Uint8Array[]): Uint8Array {
  const items = transactions.map((raw) => ((raw[0] ?? 0) >= 0xc0 ? raw : encodeRlp(raw)))
  return encodeRlpList([encodeRlpList(items), emptyList, ...(header.withdrawalsRoot === undefined ? [] : [emptyList])])
}

/** Returns the EIP-2718 bytes of an encoded transaction: a legacy one is a list, others are byte strings. */
function transactionOf(item: Uint8Array): Uint8Array {
  const { isList, from, to } = rlpHead(item, 0)
  if (isList) return item
  const raw = item.subarray(from, to)
  if (raw.length < 2 || (raw[0] ?? 0xff) >= 0x80) throw new RlpError('transaction without a type in a byte string')
  return raw
}

/** Reads the transactions of an encoded body without ommers and withdrawals. @throws RlpError */
export function decodeBody(body: Uint8Array): readonly Uint8Array[] {
  const [transactions, ommers, withdrawals] = splitRlpList(body, 8, 'body')
  if (transactions === undefined || !isEmptyList(ommers)) throw new RlpError('body with ommers')
  if (withdrawals !== undefined && !isEmptyList(withdrawals)) throw new RlpError('body with withdrawals')
  return splitRlpList(transactions, maxTransactions, 'transactions').map(transactionOf)
}

/** Returns whether a block of an OP-Stack chain with this header has these transactions. */
export const isBodyOf = (header: Header, transactions: readonly Uint8Array[]): boolean =>
  header.ommersHash === emptyOmmersHash && orderedRoot(transactions) === header.transactionsRoot

/** Encodes the receipts of a block: with their blooms in eth/68; as lists, with the type and without blooms, in eth/69. */
export function encodeReceipts(version: EthVersion, receipts: readonly Receipt[]): Uint8Array {
  return encodeRlpList(receipts.map(version === 68 ? receiptWithBloom : receiptOf69))
}

function receiptWithBloom(receipt: Receipt): Uint8Array {
  const encoded = encodeReceipt(receipt)
  return receipt.type === 0 ? encoded : encodeRlp(encoded)
}

/** @see EIP-7642; fields of deposits follow the logs, as in op-geth */
function receiptOf69({ type, succeeded, postState, cumulativeGasUsed, logs, depositNonce, depositReceiptVersion }: Receipt): Uint8Array {
  return encodeRlp([
    rlpScalar(type),
    postState ?? rlpScalar(succeeded ? 1 : 0),
    rlpScalar(cumulativeGasUsed),
    logs.map(logToRlp),
    ...(depositNonce === undefined ? [] : [rlpScalar(depositNonce)]),
    ...(depositNonce === undefined || depositReceiptVersion === undefined ? [] : [rlpScalar(depositReceiptVersion)]),
  ])
}
