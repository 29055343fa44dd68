import { equalBytes, u32At } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { orderedRoot } from '#trie/orderedRoot'
import type { Header } from '#types/header'
import { encodeReceipt } from '#types/receipt'
import { rowEntry, rowLength } from '../chainRows.ts'
import { ReceiptRow } from '../receiptRows.ts'

export type Problem = { readonly expected: string; readonly found: string }

const senderBytes = 20
/** Timestamp and mark before the entries of a row of receipts; bytes before a receipt in its entry. */
const markedHead = 9
const leastEntry = { body: senderBytes + 1, markedReceipt: 45, receipt: 13 }

/** Returns whether the offsets of a row ascend and end at the end of the row, and each entry has a minimum length. */
function isWhole(row: Uint8Array, least: number): boolean {
  if (row.length < 4) return false
  const count = rowLength(row)
  const base = 4 + 4 * count
  if (base > row.length) return false
  let end = 0
  for (let index = 0; index < count; index++) {
    const next = u32At(row, 4 + 4 * index)
    if (next < end + least) return false
    end = next
  }
  return base + end === row.length
}

const broken: Problem = { expected: 'a row with ascending offsets', found: 'offsets that contradict the length of the row' }

const entriesOf = (row: Uint8Array): Uint8Array[] => Array.from({ length: rowLength(row) }, (_, index) => rowEntry(row, index))

/** Returns the EIP-2718 bytes in an entry of a body. Does not throw on damaged entries. */
export const rawTransaction = (entry: Uint8Array): Uint8Array => entry.subarray(senderBytes)

/** Returns the transactions of a row of bodies without senders, or the contradiction to the header. Senders are not covered by a root. */
export function checkedBody(row: Uint8Array, header: Header): { readonly transactions: readonly Uint8Array[] } | Problem {
  if (!isWhole(row, leastEntry.body)) return broken
  const transactions = entriesOf(row).map(rawTransaction)
  const root = orderedRoot(transactions)
  if (root === header.transactionsRoot) return { transactions }
  return { expected: `transactions with root ${header.transactionsRoot}`, found: `transactions with root ${root}` }
}

/**
 * Returns how a row of receipts contradicts its header or the block's transactions. Blocks between Regolith and Canyon have roots without the deposit
 * nonces that their receipts contain: either root is accepted.
 */
export function receiptsProblem(row: Uint8Array, hashes: readonly Uint8Array[], header: Header): Problem | undefined {
  const isMarked = row[0] === 1
  if (!isWhole(isMarked ? row.subarray(markedHead) : row, isMarked ? leastEntry.markedReceipt : leastEntry.receipt)) return broken
  const time = timeProblem(row, header)
  if (time) return time
  const receipts = new ReceiptRow(row)
  const encodings = Array.from({ length: receipts.count }, (_, index) => receipts.encoding(index))
  const root = orderedRoot(encodings)
  if (root !== header.receiptsRoot && !(row.length <= mostReceiptBytes(hashes.length, header) && isRootWithoutNonces(receipts, header))) {
    return { expected: `receipts with root ${header.receiptsRoot}`, found: `receipts with root ${root}` }
  }
  return placeProblem(receipts, hashes)
}

/** Returns a bound of the bytes of receipts: a byte of a log costs at least four gas, and a receipt has a bloom filter and some numbers besides. */
const mostReceiptBytes = (count: number, { gasUsed }: Header): number => Number(gasUsed) / 4 + 1_024 * (count + 1)

function isRootWithoutNonces(receipts: ReceiptRow, { receiptsRoot }: Header): boolean {
  try {
    const decoded = Array.from({ length: receipts.count }, (_, index) => receipts.receipt(index).receipt)
    return orderedRoot(decoded.map(({ depositNonce: _, ...receipt }) => encodeReceipt(receipt))) === receiptsRoot
  } catch (error) {
    if (error instanceof RlpError || error instanceof RangeError) return false
    throw error
  }
}

/** Checks the timestamp before the entries. It is compared as bytes, because a damaged one may exceed the safe integers. */
function timeProblem(row: Uint8Array, { timestamp }: Header): Problem | undefined {
  if (row[0] !== 1) return undefined
  const found = BigInt(toHex(row.subarray(1, markedHead)))
  return found === BigInt(timestamp) ? undefined : { expected: `timestamp ${timestamp}`, found: `timestamp ${found}` }
}

/** Checks gas, log indexes and transaction hashes, which are stored beside the receipts. */
function placeProblem(receipts: ReceiptRow, hashes: readonly Uint8Array[]): Problem | undefined {
  if (receipts.count !== hashes.length) return { expected: `${hashes.length} receipts`, found: `${receipts.count} receipts` }
  let [gas, logs] = [0n, 0]
  for (const [index, hash] of hashes.entries()) {
    const { receipt, gasUsed, firstLogIndex } = receipts.receipt(index)
    const expected = { gasUsed: receipt.cumulativeGasUsed - gas, firstLogIndex: logs }
    if (gasUsed !== expected.gasUsed) return { expected: `gas ${expected.gasUsed} of receipt ${index}`, found: `gas ${gasUsed}` }
    if (firstLogIndex !== logs) return { expected: `log index ${logs} of receipt ${index}`, found: `log index ${firstLogIndex}` }
    const named = receipts.transactionHash(index)
    if (named !== undefined && !equalBytes(named, hash))
      return { expected: `transaction ${toHex(hash)} of receipt ${index}`, found: toHex(named) }
    gas = receipt.cumulativeGasUsed
    logs += receipt.logs.length
  }
  return undefined
}
