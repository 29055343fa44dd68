import { concatBytes, trimLeft } from '#lib/bytes'
import { encodeRlp, type RlpItem, rlpList, rlpScalar } from '#lib/rlp'
import { decodeTransaction } from '#types/transaction'
import { readBitlist } from './bitlist.ts'
import type { ByteReader } from './byteReader.ts'
import { MalformedError } from './decoded.ts'

/** Type byte (0: legacy) and the fields that the span keeps together: value, prices, data, access list, authorizations. */
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
  /** empty when the transaction creates a contract */
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
 * Decodes the transactions of a span, whose fields are stored column by column.
 * @param chainId of L2; it is not a part of the span
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
