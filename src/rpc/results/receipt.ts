import { fromHex, toHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { type Address, addressFromBytes } from '#types/ids'
import { depositType } from '#types/transaction'
import type { Json } from '../json.ts'
import type { ChainReceipt, L1FeeFacts } from '../ports.ts'
import type { ResultCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'
import { logResult } from './log.ts'
import { effectiveGasPrice, type MinedTransaction } from './transaction.ts'

export type MinedReceipt = {
  readonly mined: Omit<MinedTransaction, 'receipt'>
  readonly placed: ChainReceipt
  /** of the block, seconds */
  readonly timestamp: number
}

/** Where a creation puts its contract. @see yellow paper, 7 (equation for the new account's address) */
function createdAddress(creator: Address, nonce: bigint): Address {
  return addressFromBytes(keccak256(encodeRlp([fromHex(creator), rlpScalar(nonce)])).subarray(12))
}

function contractAddress({ mined, placed }: MinedReceipt): Address | null {
  const { transaction, from } = mined
  if (transaction.to !== null) return null
  const nonce = transaction.type === depositType ? (placed.receipt.depositNonce ?? 0n) : transaction.nonce
  return createdAddress(from, nonce)
}

/** The scalar of before Ecotone is a decimal number, the rest are quantities. */
function feeResult(fees: L1FeeFacts | undefined): Record<string, Json> {
  if (fees === undefined) return {}
  const { l1FeeScalar, ...quantities } = fees
  const known = Object.entries(quantities).flatMap(([name, value]) => (value === undefined ? [] : [[name, toQuantity(value)]]))
  return { ...Object.fromEntries(known), ...(l1FeeScalar !== undefined && { l1FeeScalar: decimalOfMillionths(l1FeeScalar) }) }
}

/** 684000 → "0.684", 1000000 → "1" */
export function decimalOfMillionths(value: bigint): string {
  const fraction = (value % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${value / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
}

function outcomeResult({ receipt }: ChainReceipt): Record<string, Json> {
  return receipt.postState === undefined ? { status: receipt.succeeded ? '0x1' : '0x0' } : { root: toHex(receipt.postState) }
}

export const receiptResult: ResultCodec<MinedReceipt> = {
  doc: 'receipt, with what the transaction paid for L1',
  schema: refTo('Receipt'),
  encode(entry): Json {
    const { mined, placed, timestamp } = entry
    const { receipt } = placed
    const block = { hash: mined.block.hash, number: mined.block.number, timestamp }
    const place = { block, transactionHash: mined.hash, transactionIndex: mined.index }
    return {
      type: toQuantity(receipt.type),
      ...outcomeResult(placed),
      cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
      logs: receipt.logs.map((log, index) => logResult.encode({ log, ...place, logIndex: placed.firstLogIndex + index })),
      ...(receipt.depositNonce !== undefined && { depositNonce: toQuantity(receipt.depositNonce) }),
      ...(receipt.depositReceiptVersion !== undefined && { depositReceiptVersion: toQuantity(receipt.depositReceiptVersion) }),
      logsBloom: toHex(receipt.logsBloom),
      transactionHash: mined.hash,
      transactionIndex: toQuantity(mined.index),
      blockHash: block.hash,
      blockNumber: toQuantity(block.number),
      gasUsed: toQuantity(placed.gasUsed),
      effectiveGasPrice: toQuantity(effectiveGasPrice(mined.transaction, mined.block.baseFee)),
      from: mined.from,
      to: mined.transaction.to,
      contractAddress: contractAddress(entry),
      ...feeResult(placed.fees),
      ...(placed.blob && { blobGasUsed: toQuantity(placed.blob.gasUsed), blobGasPrice: toQuantity(placed.blob.gasPrice) }),
    }
  },
}
