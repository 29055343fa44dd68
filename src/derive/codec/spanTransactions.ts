import { concatBytes, emptyBytes, trimLeft } from '#lib/bytes'
import { encodeRlp, encodeRlpList, rlpScalar, splitRlpList } from '#lib/rlp'
import { readBitlist } from './bitlist.ts'
import type { ByteReader } from './byteReader.ts'
import { MalformedError } from './decoded.ts'
import { GrowingBytes } from './growingBytes.ts'
import { checkTransactionData } from './transactionData.ts'

/** Type byte (0: legacy) and the encoded fields that the span keeps together: value, prices, data, access list, authorizations. */
type TransactionData = { readonly type: number; readonly fields: readonly Uint8Array[] }

const fieldCounts: Readonly<Record<number, number>> = { 0: 3, 1: 4, 2: 5, 4: 6 }

/** Returns the type of the next transaction data, and reads its type byte. */
function readType(reader: ByteReader): number {
  if ((reader.peeked ?? 0) >= 0x80) return 0
  const type = reader.byte()
  if (type === 0 || fieldCounts[type] === undefined) throw new MalformedError(`transaction data with type byte ${type}`)
  return type
}

function readTransactionData(reader: ByteReader): TransactionData {
  const type = readType(reader)
  const count = fieldCounts[type] ?? 0
  const fields = splitRlpList(reader.rlp(), count, 'transaction data')
  if (fields.length !== count) throw new MalformedError(`transaction data of type ${type} with ${fields.length} fields`)
  return { type, fields }
}

type Parts = {
  readonly nonce: bigint
  readonly gasLimit: bigint
  /** empty when the transaction creates a contract */
  readonly to: Uint8Array
  readonly yParity: boolean
  readonly isProtected: boolean
  /** r ‖ s */
  readonly signature: Uint8Array
}

function assemble({ type, fields }: TransactionData, parts: Parts, chainId: number): Uint8Array {
  const [value = emptyBytes, ...others] = fields
  const signature = [encodeRlp(trimLeft(parts.signature.subarray(0, 32))), encodeRlp(trimLeft(parts.signature.subarray(32)))]
  const parity = parts.yParity ? 1 : 0
  const [nonce, gasLimit, to] = [encodeRlp(rlpScalar(parts.nonce)), encodeRlp(rlpScalar(parts.gasLimit)), encodeRlp(parts.to)]
  if (type === 0) {
    const [gasPrice = emptyBytes, data = emptyBytes] = others
    const v = parts.isProtected ? chainId * 2 + 35 + parity : 27 + parity
    return encodeRlpList([nonce, gasPrice, gasLimit, to, value, data, encodeRlp(rlpScalar(v)), ...signature])
  }
  const priceCount = type === 1 ? 1 : 2
  const prices = others.slice(0, priceCount)
  const tail = others.slice(priceCount)
  const chain = encodeRlp(rlpScalar(chainId))
  const all = encodeRlpList([chain, nonce, ...prices, gasLimit, to, value, ...tail, encodeRlp(rlpScalar(parity)), ...signature])
  return concatBytes(Uint8Array.of(type), all)
}

/** Skips a column and returns a reader of it. */
function column(reader: ByteReader, count: number, skip: () => void): ByteReader {
  const start = reader.fork()
  for (let i = 0; i < count; i++) skip()
  return start
}

const signatureBytes = 64
/** Maximum size of a transaction without its transaction data: type, signature, recipient, four integers, heads of list and string. */
const assembledBytes = 134

/**
 * Decodes the transactions of a span, whose fields are stored column by column. Reads the columns in lockstep, so that memory is needed for the
 * transactions alone.
 * @param chainId of L2; it is not a part of the span
 * @returns consecutive RLP strings; each holds the EIP-2718 bytes of a transaction, which are well formed
 * @throws MalformedError, RlpError
 * @see specs protocol/delta/span-batches.md, "txs"; isthmus/derivation.md, "Span Batch Updates"
 */
export function readSpanTransactions(reader: ByteReader, count: number, chainId: number): Uint8Array {
  const creates = readBitlist(reader, count)
  const parities = readBitlist(reader, count)
  const signatures = reader.take(count * signatureBytes)
  const recipients = reader.fork()
  reader.take((count - creates.ones) * 20)
  let legacies = 0
  const data = column(reader, count, () => {
    if (readType(reader) === 0) legacies++
    reader.rlp()
  })
  const dataBytes = data.left - reader.left
  const nonces = column(reader, count, () => reader.uvarint())
  const gasLimits = column(reader, count, () => reader.uvarint())
  const isProtected = readBitlist(reader, legacies)
  const transactions = new GrowingBytes(dataBytes + count * assembledBytes)
  let legacy = 0
  for (let index = 0; index < count; index++) {
    const datum = readTransactionData(data)
    const parts: Parts = {
      nonce: nonces.uvarint(),
      gasLimit: gasLimits.uvarint(),
      to: creates.has(index) ? emptyBytes : recipients.take(20),
      yParity: parities.has(index),
      isProtected: datum.type === 0 && isProtected.has(legacy++),
      signature: signatures.subarray(index * signatureBytes, (index + 1) * signatureBytes),
    }
    checkTransactionData(datum.type, datum.fields, parts.to)
    transactions.push(encodeRlp(assemble(datum, parts, chainId)))
  }
  return transactions.view()
}
