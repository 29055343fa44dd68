import { toHex, toQuantity } from '#lib/hex'
import type { Deposit } from '#types/deposit'
import type { Address, Hash } from '#types/ids'
import type { Receipt } from '#types/receipt'
import { type AccessList, type Authorization, depositType, legacyV, type SignedTransaction, type Transaction } from '#types/transaction'
import type { Json } from '../json.ts'
import type { ResultCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'

/** A transaction of a block. */
export type MinedTransaction = {
  readonly transaction: Transaction
  readonly hash: Hash
  readonly from: Address
  readonly block: {
    readonly hash: Hash
    readonly number: number
    readonly baseFee: bigint
    /** seconds; present where transactions show it: go-ethereum's form, for Ethereum's own blocks */
    readonly timestamp?: number
  }
  readonly index: number
  /** of a deposit: nonce and version stand there */
  readonly receipt: Receipt | undefined
}

/** A transaction that has no block yet. */
export type PendingTransaction = Pick<MinedTransaction, 'transaction' | 'hash' | 'from'> & { readonly block: undefined }
export type AnyTransaction = MinedTransaction | PendingTransaction

export function pendingTransaction(transaction: Transaction, hash: Hash, from: Address): PendingTransaction {
  return { transaction, hash, from, block: undefined }
}

/** Of one without a block: at most. */
function priceOf({ transaction, block }: AnyTransaction): bigint {
  if (block !== undefined) return effectiveGasPrice(transaction, block.baseFee)
  return 'maxFeePerGas' in transaction ? transaction.maxFeePerGas : effectiveGasPrice(transaction, 0n)
}

/** What a transaction pays per gas in a block. @param baseFee wei per gas */
export function effectiveGasPrice(transaction: Transaction, baseFee: bigint): bigint {
  if (transaction.type === depositType) return 0n
  if (transaction.type === 0 || transaction.type === 1) return transaction.gasPrice
  const tipped = baseFee + transaction.maxPriorityFeePerGas
  return tipped < transaction.maxFeePerGas ? tipped : transaction.maxFeePerGas
}

const accessListResult = (list: AccessList): Json => list.map(({ address, slots }) => ({ address, storageKeys: slots }))

const authorizationResult = (authorization: Authorization): Json => ({
  chainId: toQuantity(authorization.chainId),
  address: authorization.address,
  nonce: toQuantity(authorization.nonce),
  yParity: toQuantity(authorization.yParity),
  r: toQuantity(authorization.r),
  s: toQuantity(authorization.s),
})

function placeResult(of: AnyTransaction): Record<string, Json> {
  if (of.block === undefined) return { blockHash: null, blockNumber: null, transactionIndex: null }
  const { hash, number, timestamp } = of.block
  return {
    blockHash: hash,
    blockNumber: toQuantity(number),
    ...(timestamp !== undefined && { blockTimestamp: toQuantity(timestamp) }),
    transactionIndex: toQuantity(of.index),
  }
}

const common = (transaction: Transaction, of: AnyTransaction): Record<string, Json> => ({
  type: toQuantity(transaction.type),
  hash: of.hash,
  from: of.from,
  gas: toQuantity(transaction.gasLimit),
  value: toQuantity(transaction.value),
  input: toHex(transaction.data),
  ...placeResult(of),
  gasPrice: toQuantity(priceOf(of)),
})

/** A creation has no `to` here, as Base's execution client writes deposits. */
function depositResult(deposit: Deposit, of: AnyTransaction): Json {
  const { depositNonce, depositReceiptVersion } = (of.block && of.receipt) ?? {}
  return {
    ...common(deposit, of),
    ...(deposit.to !== null && { to: deposit.to }),
    sourceHash: deposit.sourceHash,
    mint: toQuantity(deposit.mint),
    ...(deposit.isSystemTransaction && { isSystemTx: true }),
    nonce: toQuantity(depositNonce ?? 0n),
    ...(depositReceiptVersion !== undefined && { depositReceiptVersion: toQuantity(depositReceiptVersion) }),
    r: '0x0',
    s: '0x0',
    yParity: '0x0',
    v: '0x0',
  }
}

function signatureResult(transaction: SignedTransaction): Record<string, Json> {
  const numbers = { r: toQuantity(transaction.r), s: toQuantity(transaction.s) }
  if (transaction.type === 0) return { ...numbers, v: toQuantity(legacyV(transaction)) }
  const parity = toQuantity(transaction.yParity)
  return { ...numbers, yParity: parity, v: parity }
}

function feeMarketResult(transaction: SignedTransaction): Record<string, Json> {
  if (transaction.type === 0 || transaction.type === 1) return {}
  return {
    maxFeePerGas: toQuantity(transaction.maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(transaction.maxPriorityFeePerGas),
    ...(transaction.type === 3 && {
      maxFeePerBlobGas: toQuantity(transaction.maxFeePerBlobGas),
      blobVersionedHashes: transaction.blobVersionedHashes,
    }),
    ...(transaction.type === 4 && { authorizationList: transaction.authorizationList.map(authorizationResult) }),
  }
}

function signedResult(transaction: SignedTransaction, of: AnyTransaction): Json {
  return {
    ...common(transaction, of),
    ...(transaction.chainId !== undefined && { chainId: toQuantity(transaction.chainId) }),
    nonce: toQuantity(transaction.nonce),
    to: transaction.to,
    ...feeMarketResult(transaction),
    ...(transaction.type !== 0 && { accessList: accessListResult(transaction.accessList) }),
    ...signatureResult(transaction),
  }
}

export const transactionResult: ResultCodec<AnyTransaction> = {
  doc: 'transaction',
  schema: refTo('Transaction'),
  encode(of): Json {
    const { transaction } = of
    return transaction.type === depositType ? depositResult(transaction, of) : signedResult(transaction, of)
  },
}
