import { fromHex, toHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import type { ChainReceipt } from '#types/chainView'
import { type Address, addressFromBytes, zeroHash } from '#types/ids'
import type { L1FeeFacts } from '#types/l1FeeFacts'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'
import { depositType } from '#types/transaction'
import { refTo } from '../reference/schemas.ts'
import { logText } from './log.ts'
import { listText, type WrittenCodec, written } from './text.ts'
import { effectiveGasPrice, type MinedTransaction } from './transaction.ts'

export type MinedReceipt = {
  readonly mined: Omit<MinedTransaction, 'receipt'>
  readonly placed: ChainReceipt
  /** timestamp of the block, seconds */
  readonly timestamp: number
}

/** Address of a contract created by a transaction. @see yellow paper, 7 (equation for the new account's address) */
function createdAddress(creator: Address, nonce: bigint): Address {
  return addressFromBytes(keccak256(encodeRlp([fromHex(creator), rlpScalar(nonce)])).subarray(12))
}

function contractAddress({ transaction, from }: MinedReceipt['mined'], { depositNonce = 0n }: Receipt): Address | null {
  if (transaction.to !== null) return null
  const nonce = transaction.type === depositType ? depositNonce : transaction.nonce
  return createdAddress(from, nonce)
}

/** JSON members of the fees. The scalar before Ecotone is a decimal number, all others are quantities. */
function feesText(fees: L1FeeFacts | undefined): string {
  if (fees === undefined) return ''
  let text = ''
  for (const name in fees) {
    const value = fees[name as keyof L1FeeFacts]
    if (value !== undefined) text += `,"${name}":"${name === 'l1FeeScalar' ? decimalOfMillionths(value) : toQuantity(value)}"`
  }
  return text
}

/** 684000 → "0.684", 1000000 → "1" */
export function decimalOfMillionths(value: bigint): string {
  const fraction = (value % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${value / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
}

const outcomeText = (receipt: Receipt): string =>
  receipt.postState === undefined ? `"status":"${receipt.succeeded ? '0x1' : '0x0'}"` : `"root":"${toHex(receipt.postState)}"`

function depositText({ depositNonce, depositReceiptVersion }: Receipt): string {
  const nonce = depositNonce === undefined ? '' : `"depositNonce":"${toQuantity(depositNonce)}",`
  return depositReceiptVersion === undefined ? nonce : `${nonce}"depositReceiptVersion":"${toQuantity(depositReceiptVersion)}",`
}

function blobText({ blob }: ChainReceipt): string {
  return blob === undefined ? '' : `,"blobGasUsed":"${toQuantity(blob.gasUsed)}","blobGasPrice":"${toQuantity(blob.gasPrice)}"`
}

const addressText = (address: Address | null): string => (address === null ? 'null' : `"${address}"`)

function logsText({ mined, placed, timestamp }: MinedReceipt, logs: readonly Log[]): string {
  const { hash: known, number, timeMs } = mined.block
  const hash = known ?? zeroHash
  const block = { hash, number, timestamp, timeMs }
  let logIndex = placed.firstLogIndex
  return listText(logs, (log) => logText({ log, block, transactionHash: mined.hash, transactionIndex: mined.index, logIndex: logIndex++ }))
}

export function receiptText(entry: MinedReceipt): string {
  const { mined, placed } = entry
  const { receipt } = placed
  const { block, transaction } = mined
  return (
    `{"type":"${toQuantity(receipt.type)}",${outcomeText(receipt)},"cumulativeGasUsed":"${toQuantity(receipt.cumulativeGasUsed)}",` +
    `"logs":${logsText(entry, receipt.logs)},${depositText(receipt)}"logsBloom":"${toHex(receipt.logsBloom)}",` +
    `"transactionHash":"${mined.hash}","transactionIndex":"${toQuantity(mined.index)}",` +
    `"blockHash":"${block.hash ?? zeroHash}","blockNumber":"${toQuantity(block.number)}","gasUsed":"${toQuantity(placed.gasUsed)}",` +
    `"effectiveGasPrice":"${toQuantity(effectiveGasPrice(transaction, block.baseFee))}",` +
    `"from":"${mined.from}","to":${addressText(transaction.to)},"contractAddress":${addressText(contractAddress(mined, receipt))}` +
    `${feesText(placed.fees)}${blobText(placed)}}`
  )
}

export const receiptResult: WrittenCodec<MinedReceipt> = written('receipt with L1 and operator fees', refTo('Receipt'), receiptText)
