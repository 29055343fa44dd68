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

/** A receipt before it is decoded. */
export type ReceiptEntry = Omit<StoredReceipt, 'receipt'> & { readonly decode: () => Receipt; readonly sizeBytes: number }

/** Estimated bytes of a decoded receipt without its logs, of a log without its data, of an encoded receipt besides its bytes. */
const receiptBytes = 800
const logBytes = 500
const encodedBytes = 400

export function entriesIn(row: ReceiptRow): ReceiptEntry[] {
  return Array.from({ length: row.count }, (_, index) => {
    const encoding = row.encoding(index)
    return {
      gasUsed: row.gasUsed(index),
      firstLogIndex: row.firstLogIndex(index),
      decode: () => decodeReceipt(encoding),
      sizeBytes: encodedBytes + encoding.length,
    }
  })
}

export function decodedEntry({ receipt, gasUsed, firstLogIndex }: StoredReceipt): ReceiptEntry {
  const sizeBytes = receipt.logs.reduce((sum, { data }) => sum + logBytes + data.length, receiptBytes)
  return { gasUsed, firstLogIndex, decode: () => receipt, sizeBytes }
}

export function viewedReceipt(entry: ReceiptEntry, feesOf: () => L1FeeFacts | undefined): ChainReceipt {
  return {
    gasUsed: entry.gasUsed,
    firstLogIndex: entry.firstLogIndex,
    sizeBytes: entry.sizeBytes,
    get receipt(): Receipt {
      return entry.decode()
    },
    get fees(): L1FeeFacts | undefined {
      return feesOf()
    },
  }
}

/** Returns the L1 costs of a block's transactions by index. */
export function feesIn(block: Block, { schedule }: ExecutionConfig): (index: number) => L1FeeFacts | undefined {
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
