import type { ExecutionConfig } from '#block/executionConfig'
import { l1FeeFacts } from '#block/fees/l1FeeFacts'
import type { L1Attributes } from '#chainspec/l1Info'
import { l1AttributesIn } from '#chainspec/l2Ref'
import { isFault } from '#lib/fault'
import type { Block } from '#types/block'
import type { ChainReceipt } from '#types/chainView'
import type { L1FeeFacts } from '#types/l1FeeFacts'
import { decodeReceipt, type Receipt } from '#types/receipt'
import type { ReceiptRow, StoredReceipt } from '../receiptRows.ts'

/** Returns the L1 costs of the transaction at an index. */
type FeesOf = (index: number) => L1FeeFacts | undefined

/** Estimated bytes of a receipt in memory without its logs, of a log without its data, and of a receipt in a row besides its encoding. */
const receiptBytes = 800
const logBytes = 500
const rowReceiptBytes = 120

/** A receipt in a row, decoded at each read of a field. A cached block has hundreds of them, so each is one small object. */
class RowReceipt implements ChainReceipt {
  readonly #row: ReceiptRow
  readonly #index: number
  readonly #feesOf: FeesOf

  constructor(row: ReceiptRow, index: number, feesOf: FeesOf) {
    this.#row = row
    this.#index = index
    this.#feesOf = feesOf
  }

  get receipt(): Receipt {
    return decodeReceipt(this.#row.encoding(this.#index))
  }

  get gasUsed(): bigint {
    return this.#row.gasUsed(this.#index)
  }

  get firstLogIndex(): number {
    return this.#row.firstLogIndex(this.#index)
  }

  get fees(): L1FeeFacts | undefined {
    return this.#feesOf(this.#index)
  }

  get sizeBytes(): number {
    return rowReceiptBytes + this.#row.encoding(this.#index).length
  }
}

export const receiptsInRow = (row: ReceiptRow, feesOf: FeesOf): readonly ChainReceipt[] =>
  Array.from({ length: row.count }, (_, index) => new RowReceipt(row, index, feesOf))

/** Returns receipts of an executed block, whose fees are computed at each read. */
export const executedReceipts = (receipts: readonly StoredReceipt[], feesOf: FeesOf): readonly ChainReceipt[] =>
  receipts.map(({ receipt, gasUsed, firstLogIndex }, index) => ({
    receipt,
    gasUsed,
    firstLogIndex,
    sizeBytes: receipt.logs.reduce((sum, { data }) => sum + logBytes + data.length, receiptBytes),
    get fees(): L1FeeFacts | undefined {
      return feesOf(index)
    },
  }))

/** Returns the L1 costs of a block's transactions by index. */
export function feesIn(block: Block, { schedule }: ExecutionConfig): FeesOf {
  let info: { readonly attributes: L1Attributes | undefined } | undefined
  return (index) => {
    info ??= { attributes: l1AttributesOrNone(block) }
    const raw = block.transactions[index]
    if (raw === undefined || info.attributes === undefined) return undefined
    return l1FeeFacts(schedule, block.header.timestamp, info.attributes, raw)
  }
}

/** Returns undefined for a block without L1 attributes (a genesis, another chain's block), which has no L1 fees. */
function l1AttributesOrNone(block: Block): L1Attributes | undefined {
  try {
    return l1AttributesIn(block)
  } catch (error) {
    if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return undefined
    throw error
  }
}
