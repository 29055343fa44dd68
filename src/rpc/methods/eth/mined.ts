import type { Hash } from '#types/ids'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import { prunedHistory } from '../../errors.ts'
import type { ChainBlock, ChainReceipt, ChainView } from '../../ports.ts'
import type { MinedReceipt } from '../../results/receipt.ts'
import type { MinedTransaction } from '../../results/transaction.ts'

/** A block with its receipts; undefined when the block is unknown, RpcError 4444 when only the receipts are gone. */
export function blockWithReceipts(view: ChainView, hash: Hash): { of: ChainBlock; receipts: readonly ChainReceipt[] } | undefined {
  const of = view.block(hash)
  if (of === undefined) return undefined
  const receipts = view.receipts(hash)
  if (receipts === undefined || receipts.length !== of.block.transactions.length) throw prunedHistory()
  return { of, receipts }
}

/** The transaction at an index; undefined beyond the end. */
export function minedTransaction(of: ChainBlock, receipts: readonly ChainReceipt[], index: number): MinedTransaction | undefined {
  const { header, transactions, ommers } = of.block
  const raw = transactions[index]
  const from = of.senders[index]
  if (raw === undefined || from === undefined) return undefined
  return {
    transaction: decodeTransaction(raw),
    hash: hashTransaction(raw),
    from,
    block: { hash: of.hash, number: header.number, baseFee: header.baseFeePerGas ?? 0n, ...(ommers && { timestamp: header.timestamp }) },
    index,
    receipt: receipts[index]?.receipt,
  }
}

export function minedTransactions(of: ChainBlock, receipts: readonly ChainReceipt[]): readonly MinedTransaction[] {
  return of.block.transactions.flatMap((_raw, index) => minedTransaction(of, receipts, index) ?? [])
}

/** The receipt at an index, its fees computed while the view is open; undefined beyond the end. */
export function minedReceipt(of: ChainBlock, receipts: readonly ChainReceipt[], index: number): MinedReceipt | undefined {
  const mined = minedTransaction(of, receipts, index)
  const stored = receipts[index]
  if (mined === undefined || stored === undefined) return undefined
  const { receipt, gasUsed, firstLogIndex, fees, blob } = stored
  const placed = { receipt, gasUsed, firstLogIndex, ...(fees !== undefined && { fees }), ...(blob && { blob }) }
  return { mined, placed, timestamp: of.block.header.timestamp }
}
