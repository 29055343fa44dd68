import { toHex, toQuantity } from '#lib/hex'
import type { Deposit } from '#types/deposit'
import type { Address, Hash } from '#types/ids'
import type { Receipt } from '#types/receipt'
import { type AccessList, type Authorization, depositType, legacyV, type SignedTransaction, type Transaction } from '#types/transaction'
import { refTo } from '../reference/schemas.ts'
import { hexListText, listText, type WrittenCodec, written } from './text.ts'

/** A transaction of a block. */
export type MinedTransaction = {
  readonly transaction: Transaction
  readonly hash: Hash
  readonly from: Address
  readonly block: {
    /** null for a pending block */
    readonly hash: Hash | null
    readonly number: number
    readonly baseFee: bigint
    /** seconds; present for Ethereum's own blocks, whose transactions show it in go-ethereum's format */
    readonly timestamp?: number
    /** time of a sealed Denim block, milliseconds */
    readonly timeMs?: number | undefined
  }
  readonly index: number
  /** of a deposit: has its nonce and version */
  readonly receipt: Receipt | undefined
}

/** A transaction without a block. */
export type PendingTransaction = Pick<MinedTransaction, 'transaction' | 'hash' | 'from'> & { readonly block: undefined }
export type AnyTransaction = MinedTransaction | PendingTransaction

export function pendingTransaction(transaction: Transaction, hash: Hash, from: Address): PendingTransaction {
  return { transaction, hash, from, block: undefined }
}

/** Gas price of a transaction; the maximum while it has no block. */
function priceOf({ transaction, block }: AnyTransaction): bigint {
  if (block !== undefined) return effectiveGasPrice(transaction, block.baseFee)
  return 'maxFeePerGas' in transaction ? transaction.maxFeePerGas : effectiveGasPrice(transaction, 0n)
}

/** Effective gas price of a transaction in a block. @param baseFee wei per gas */
export function effectiveGasPrice(transaction: Transaction, baseFee: bigint): bigint {
  if (transaction.type === depositType) return 0n
  if (transaction.type === 0 || transaction.type === 1) return transaction.gasPrice
  const tipped = baseFee + transaction.maxPriorityFeePerGas
  return tipped < transaction.maxFeePerGas ? tipped : transaction.maxFeePerGas
}

/** JSON of an object member with a preceding comma. */
const hexMember = (name: string, value: string | number | bigint): string =>
  typeof value === 'string' ? `,"${name}":"${value}"` : `,"${name}":"0x${value.toString(16)}"`

const accessListText = (list: AccessList): string =>
  listText(list, ({ address, slots }) => `{"address":"${address}","storageKeys":${hexListText(slots)}}`)

const authorizationText = ({ chainId, address, nonce, yParity, r, s }: Authorization): string =>
  `{"chainId":"${toQuantity(chainId)}"${hexMember('address', address)}${hexMember('nonce', nonce)}${hexMember('yParity', yParity)}` +
  `${hexMember('r', r)}${hexMember('s', s)}}`

function placeText({ block, ...of }: AnyTransaction): string {
  if (block === undefined) return ',"blockHash":null,"blockNumber":null,"transactionIndex":null'
  const seconds = block.timestamp === undefined ? '' : hexMember('blockTimestamp', block.timestamp)
  const time = seconds + (block.timeMs === undefined ? '' : hexMember('blockTimestampMs', block.timeMs))
  const index = 'index' in of ? of.index : 0
  const hash = block.hash === null ? 'null' : `"${block.hash}"`
  return `,"blockHash":${hash}${hexMember('blockNumber', block.number)}${time}${hexMember('transactionIndex', index)}`
}

/** Common members of all transaction types, as the beginning of an object. */
const commonText = (transaction: Transaction, of: AnyTransaction): string =>
  `{"type":"${toQuantity(transaction.type)}","hash":"${of.hash}","from":"${of.from}"${hexMember('gas', transaction.gasLimit)}` +
  `${hexMember('value', transaction.value)},"input":"${toHex(transaction.data)}"${placeText(of)}${hexMember('gasPrice', priceOf(of))}`

/** Unlike other types, a deposit that creates a contract has no `to` here, as in Base's execution client. */
function depositText(deposit: Deposit, of: AnyTransaction): string {
  const { depositNonce = 0n, depositReceiptVersion } = (of.block && of.receipt) ?? {}
  return (
    commonText(deposit, of) +
    (deposit.to === null ? '' : hexMember('to', deposit.to)) +
    hexMember('sourceHash', deposit.sourceHash) +
    hexMember('mint', deposit.mint) +
    (deposit.isSystemTransaction ? ',"isSystemTx":true' : '') +
    hexMember('nonce', depositNonce) +
    (depositReceiptVersion === undefined ? '' : hexMember('depositReceiptVersion', depositReceiptVersion)) +
    ',"r":"0x0","s":"0x0","yParity":"0x0","v":"0x0"}'
  )
}

function signatureText(transaction: SignedTransaction): string {
  const numbers = hexMember('r', transaction.r) + hexMember('s', transaction.s)
  if (transaction.type === 0) return numbers + hexMember('v', legacyV(transaction))
  return numbers + hexMember('yParity', transaction.yParity) + hexMember('v', transaction.yParity)
}

function feeMarketText(transaction: SignedTransaction): string {
  if (transaction.type === 0 || transaction.type === 1) return ''
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  const fees = hexMember('maxFeePerGas', maxFeePerGas) + hexMember('maxPriorityFeePerGas', maxPriorityFeePerGas)
  if (transaction.type === 4) return `${fees},"authorizationList":${listText(transaction.authorizationList, authorizationText)}`
  if (transaction.type !== 3) return fees
  const { maxFeePerBlobGas, blobVersionedHashes } = transaction
  return `${fees}${hexMember('maxFeePerBlobGas', maxFeePerBlobGas)},"blobVersionedHashes":${hexListText(blobVersionedHashes)}`
}

const signedText = (transaction: SignedTransaction, of: AnyTransaction): string =>
  commonText(transaction, of) +
  (transaction.chainId === undefined ? '' : hexMember('chainId', transaction.chainId)) +
  hexMember('nonce', transaction.nonce) +
  (transaction.to === null ? ',"to":null' : hexMember('to', transaction.to)) +
  feeMarketText(transaction) +
  (transaction.type === 0 ? '' : `,"accessList":${accessListText(transaction.accessList)}`) +
  `${signatureText(transaction)}}`

export function transactionText(of: AnyTransaction): string {
  const { transaction } = of
  return transaction.type === depositType ? depositText(transaction, of) : signedText(transaction, of)
}

export const transactionResult: WrittenCodec<AnyTransaction> = written('transaction', refTo('Transaction'), transactionText)
