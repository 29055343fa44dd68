import { bytesFromBigint, concatBytes, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { encodeRlp, type RlpItem, rlpList, rlpScalar } from '#lib/rlp'
import { type AccessList, decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'
import { encodeBitlist, readBitlist } from './bitlist.ts'
import { type ByteReader, encodeUvarint } from './byteReader.ts'
import { MalformedError } from './decoded.ts'

/** Type byte (0: legacy) and the fields that stand together in the span: value, prices, data, access list, authorizations. */
type TransactionData = { readonly type: number; readonly fields: readonly RlpItem[] }

const fieldCounts: Readonly<Record<number, number>> = { 0: 3, 1: 4, 2: 5, 4: 6 }

function readTransactionData(reader: ByteReader): TransactionData {
  const isTyped = (reader.peeked ?? 0) < 0x80
  const type = isTyped ? reader.byte() : 0
  if (isTyped && type === 0) throw new MalformedError('transaction data of type 0 with a type byte')
  const fields = rlpList(reader.rlp(), 'transaction data')
  if (fields.length !== fieldCounts[type]) throw new MalformedError(`transaction data of type ${type} with ${fields.length} fields`)
  return { type, fields }
}

const times = <T>(count: number, read: () => T): T[] => Array.from({ length: count }, read)

type Parts = {
  readonly nonce: bigint
  readonly gasLimit: bigint
  /** no bytes: creates a contract */
  readonly to: Uint8Array
  readonly yParity: boolean
  readonly isProtected: boolean
  /** r ‖ s */
  readonly signature: Uint8Array
}

function assemble({ type, fields }: TransactionData, parts: Parts, chainId: number): Uint8Array {
  const [value = [], ...others] = fields
  const signature: RlpItem[] = [trimLeft(parts.signature.subarray(0, 32)), trimLeft(parts.signature.subarray(32))]
  const parity = parts.yParity ? 1 : 0
  const nonce = rlpScalar(parts.nonce)
  const gasLimit = rlpScalar(parts.gasLimit)
  if (type === 0) {
    const [gasPrice = [], data = []] = others
    const v = parts.isProtected ? chainId * 2 + 35 + parity : 27 + parity
    return encodeRlp([nonce, gasPrice, gasLimit, parts.to, value, data, rlpScalar(v), ...signature])
  }
  const priceCount = type === 1 ? 1 : 2
  const prices = others.slice(0, priceCount)
  const tail = others.slice(priceCount)
  const all = [rlpScalar(chainId), nonce, ...prices, gasLimit, parts.to, value, ...tail, rlpScalar(parity), ...signature]
  return concatBytes(Uint8Array.of(type), encodeRlp(all))
}

/**
 * The transactions of a span: their like fields stand together.
 * @param chainId of L2: the span does not say it
 * @returns EIP-2718 bytes, each well formed
 * @throws MalformedError, RlpError
 * @see specs protocol/delta/span-batches.md, "txs"; isthmus/derivation.md, "Span Batch Updates"
 */
export function readSpanTransactions(reader: ByteReader, count: number, chainId: number): readonly Uint8Array[] {
  const creates = readBitlist(reader, count)
  const parities = readBitlist(reader, count)
  const signatures = reader.take(count * 64)
  const recipients = reader.take((count - creates.ones) * 20)
  const data = times(count, () => readTransactionData(reader))
  const nonces = times(count, () => reader.uvarint())
  const gasLimits = times(count, () => reader.uvarint())
  const isProtected = readBitlist(reader, data.filter(({ type }) => type === 0).length)
  let calls = 0
  let legacies = 0
  return data.map((datum, index) => {
    const to = creates.has(index) ? recipients.subarray(0, 0) : recipients.subarray(calls * 20, ++calls * 20)
    const parts: Parts = {
      nonce: nonces[index] ?? 0n,
      gasLimit: gasLimits[index] ?? 0n,
      to,
      yParity: parities.has(index),
      isProtected: datum.type === 0 && isProtected.has(legacies++),
      signature: signatures.subarray(index * 64, index * 64 + 64),
    }
    const raw = assemble(datum, parts, chainId)
    decodeTransaction(raw)
    return raw
  })
}

const accessListItem = (list: AccessList): RlpItem => list.map(({ address, slots }) => [fromHex(address), slots.map(fromHex)])

function transactionData(tx: SignedTransaction): Uint8Array {
  const value = rlpScalar(tx.value)
  if (tx.type === 0) return encodeRlp([value, rlpScalar(tx.gasPrice), tx.data])
  const type = Uint8Array.of(tx.type)
  const list = accessListItem(tx.accessList)
  if (tx.type === 1) return concatBytes(type, encodeRlp([value, rlpScalar(tx.gasPrice), tx.data, list]))
  const fields: RlpItem[] = [value, rlpScalar(tx.maxPriorityFeePerGas), rlpScalar(tx.maxFeePerGas), tx.data, list]
  if (tx.type === 4) {
    const scalars = ({ chainId, address, nonce, yParity, r, s }: (typeof tx.authorizationList)[number]): RlpItem => [
      rlpScalar(chainId),
      fromHex(address),
      rlpScalar(nonce),
      rlpScalar(yParity),
      rlpScalar(r),
      rlpScalar(s),
    ]
    fields.push(tx.authorizationList.map(scalars))
  }
  return concatBytes(type, encodeRlp(fields))
}

function signedTransaction(raw: Uint8Array, chainId: number): SignedTransaction {
  const tx = decodeTransaction(raw)
  if (tx.type === depositType || tx.type === 3) throw new RangeError(`a span batch cannot hold a transaction of type ${tx.type}`)
  if (tx.chainId !== undefined && tx.chainId !== BigInt(chainId))
    throw new RangeError(`transaction for chain ${tx.chainId} in a span of ${chainId}`)
  return tx
}

/** RangeError on a transaction that a span cannot hold: a deposit, a blob transaction, one for another chain; RlpError on bytes that are none. */
export function encodeSpanTransactions(transactions: readonly Uint8Array[], chainId: number): Uint8Array {
  const all = transactions.map((raw) => signedTransaction(raw, chainId))
  return concatBytes(
    encodeBitlist(all.map(({ to }) => to === null)),
    encodeBitlist(all.map(({ yParity }) => yParity === 1)),
    ...all.map(({ r, s }) => concatBytes(bytesFromBigint(r, 32), bytesFromBigint(s, 32))),
    ...all.flatMap(({ to }) => (to === null ? [] : [fromHex(to)])),
    ...all.map(transactionData),
    ...all.map(({ nonce }) => encodeUvarint(nonce)),
    ...all.map(({ gasLimit }) => encodeUvarint(gasLimit)),
    encodeBitlist(all.filter(({ type }) => type === 0).map((tx) => tx.type === 0 && tx.chainId !== undefined)),
  )
}
