import { bigintFromBytes, concatBytes, equalBytes, numberFromBytes } from '#lib/bytes'
import { encodeRlpList, RlpError, rlpHead, rlpScalar } from '#lib/rlp'
import { encodeBitlist } from './bitlist.ts'
import { encodeUvarint } from './byteReader.ts'
import { GrowingBytes } from './growingBytes.ts'

/**
 * Positions of the fields of a transaction type in its RLP list. The span takes value, prices and all fields from `data` to the signature as encoded.
 */
type Layout = { readonly fields: number; readonly nonce: number; readonly prices: number; readonly gasLimit: number }
const layouts: Readonly<Record<number, Layout>> = {
  0: { fields: 9, nonce: 0, prices: 1, gasLimit: 2 },
  1: { fields: 11, nonce: 1, prices: 2, gasLimit: 3 },
  2: { fields: 12, nonce: 1, prices: 2, gasLimit: 4 },
  4: { fields: 13, nonce: 1, prices: 2, gasLimit: 4 },
}

const signatureHalf = 32
const addressBytes = 20
/** r, s */
const signatureFields = 2
const maxSmallScalar = 6

/**
 * Writer of the transactions of a span, column by column. It reads only the RLP headers of the fields, once per transaction, and creates no numbers
 * or strings from their contents.
 * @see specs protocol/delta/span-batches.md, "txs"; isthmus/derivation.md, "Span Batch Updates"
 */
export class SpanTransactionWriter {
  readonly #chainId: Uint8Array
  readonly #chainIdNumber: number
  readonly #creates: boolean[] = []
  readonly #parities: boolean[] = []
  readonly #protected: boolean[] = []
  readonly #signatures = new GrowingBytes()
  readonly #recipients = new GrowingBytes()
  readonly #data = new GrowingBytes()
  readonly #nonces = new GrowingBytes()
  readonly #gasLimits = new GrowingBytes()
  /** offsets in the current transaction: start of each field's RLP item, start and end of its content */
  readonly #item = new Int32Array(14)
  readonly #from = new Int32Array(14)
  readonly #to = new Int32Array(14)

  /** @param chainId of L2; it is not a part of the span */
  constructor(chainId: number) {
    this.#chainId = rlpScalar(chainId)
    this.#chainIdNumber = chainId
  }

  get count(): number {
    return this.#creates.length
  }

  /** Size of all columns except the bitlists. */
  get bytes(): number {
    return this.#signatures.length + this.#recipients.length + this.#data.length + this.#nonces.length + this.#gasLimits.length
  }

  /**
   * Adds a transaction of a block.
   * @param raw EIP-2718 bytes
   * @throws RangeError when a span cannot hold it: a deposit, a blob transaction, a transaction for another chain; RlpError when it is malformed. The
   *   writer must not be used after an error.
   */
  add(raw: Uint8Array): void {
    const first = raw[0] ?? 0
    const type = first >= 0xc0 ? 0 : first
    const layout = first === 0 ? undefined : layouts[type]
    if (layout === undefined) throw new RangeError(`a span batch cannot hold a transaction of type ${type}`)
    this.#readHeads(raw, type, layout)
    const parity = type === 0 ? this.#legacyParity(raw) : this.#typedParity(raw, layout)
    this.#parities.push(parity === 1)
    this.#writeSignature(raw, layout)
    this.#writeRecipient(raw, layout.gasLimit + 1)
    this.#writeData(raw, type, layout)
    this.#writeInteger(this.#nonces, this.#scalar(raw, layout.nonce))
    this.#writeInteger(this.#gasLimits, this.#scalar(raw, layout.gasLimit))
  }

  finish(): Uint8Array {
    const columns = [this.#signatures, this.#recipients, this.#data, this.#nonces, this.#gasLimits].map((column) => column.view())
    return concatBytes(encodeBitlist(this.#creates), encodeBitlist(this.#parities), ...columns, encodeBitlist(this.#protected))
  }

  #readHeads(raw: Uint8Array, type: number, { fields }: Layout): void {
    const list = rlpHead(raw, type === 0 ? 0 : 1)
    if (!list.isList || list.to !== raw.length) throw new RlpError('a transaction is not one RLP list')
    let at = list.from
    for (let field = 0; field < fields; field++) {
      if (at >= list.to) throw new RlpError(`transaction of type ${type} with only ${field} fields`)
      const { from, to } = rlpHead(raw, at)
      this.#item[field] = at
      this.#from[field] = from
      this.#to[field] = to
      at = to
    }
    this.#item[fields] = at
    if (at !== list.to) throw new RlpError(`transaction of type ${type} with more than ${fields} fields`)
  }

  #content(raw: Uint8Array, field: number): Uint8Array {
    return raw.subarray(this.#from[field], this.#to[field])
  }

  /** Returns an integer field without leading zeros, as RLP requires: a span keeps the value, not its encoding. */
  #scalar(raw: Uint8Array, field: number): Uint8Array {
    const bytes = this.#content(raw, field)
    if (bytes[0] === 0) throw new RlpError('leading zero')
    return bytes
  }

  #items(raw: Uint8Array, from: number, to: number): Uint8Array {
    return raw.subarray(this.#item[from], this.#item[to])
  }

  #typedParity(raw: Uint8Array, { fields }: Layout): number {
    if (!equalBytes(this.#content(raw, 0), this.#chainId)) throw new RangeError('a span cannot hold a transaction for another chain')
    return numberFromBytes(this.#scalar(raw, fields - signatureFields - 1))
  }

  #legacyParity(raw: Uint8Array): number {
    const v = numberFromBytes(this.#scalar(raw, 6))
    const isProtected = v >= 35
    if (isProtected && Math.floor((v - 35) / 2) !== this.#chainIdNumber) {
      throw new RangeError('a span cannot hold a transaction for another chain')
    }
    this.#protected.push(isProtected)
    return (v - (isProtected ? 35 : 27)) % 2
  }

  #writeSignature(raw: Uint8Array, { fields }: Layout): void {
    for (const field of [fields - 2, fields - 1]) {
      const half = this.#scalar(raw, field)
      if (half.length > signatureHalf) throw new RangeError(`signature value of ${half.length} bytes`)
      this.#signatures.pushPadded(half, signatureHalf)
    }
  }

  #writeRecipient(raw: Uint8Array, field: number): void {
    const to = this.#content(raw, field)
    if (to.length !== 0 && to.length !== addressBytes) throw new RlpError(`recipient of ${to.length} bytes`)
    this.#creates.push(to.length === 0)
    this.#recipients.push(to)
  }

  #writeData(raw: Uint8Array, type: number, { fields, prices, gasLimit }: Layout): void {
    const value = gasLimit + 2
    const signature = fields - signatureFields - 1
    const parts = [this.#items(raw, value, value + 1), this.#items(raw, prices, gasLimit), this.#items(raw, value + 1, signature)]
    if (type !== 0) this.#data.pushUvarint(type)
    this.#data.push(encodeRlpList(parts))
  }

  #writeInteger(column: GrowingBytes, scalar: Uint8Array): void {
    if (scalar.length > maxSmallScalar) column.push(encodeUvarint(bigintFromBytes(scalar)))
    else column.pushUvarint(numberFromBytes(scalar))
  }
}
