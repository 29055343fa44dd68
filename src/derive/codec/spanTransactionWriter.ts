import { bigintFromBytes, concatBytes, equalBytes, numberFromBytes } from '#lib/bytes'
import { encodeRlpList, RlpError, rlpHead, rlpScalar } from '#lib/rlp'
import { encodeBitlist } from './bitlist.ts'
import { encodeUvarint } from './byteReader.ts'
import { GrowingBytes } from './growingBytes.ts'

/** Where the fields of a type stand in its RLP; value, prices, and all from `data` to the signature go into the span as they are. */
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
 * The transactions of a span, column by column. Each is read once, by the heads of its fields: no numbers and no text are made of them.
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
  /** of the transaction at hand: where each field's item begins, where its content begins and ends */
  readonly #item = new Int32Array(14)
  readonly #from = new Int32Array(14)
  readonly #to = new Int32Array(14)

  /** @param chainId of L2: the span does not say it */
  constructor(chainId: number) {
    this.#chainId = rlpScalar(chainId)
    this.#chainIdNumber = chainId
  }

  get count(): number {
    return this.#creates.length
  }

  /** Of all columns but those of bits. */
  get bytes(): number {
    return this.#signatures.length + this.#recipients.length + this.#data.length + this.#nonces.length + this.#gasLimits.length
  }

  /**
   * @param raw EIP-2718 bytes of a transaction of a block
   * @throws RangeError when a span cannot hold it: a deposit, a blob transaction, one for another chain; RlpError on what is none. After that
   * the writer is of no use.
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
    if (!list.isList || list.to !== raw.length) throw new RlpError('a transaction is one list')
    let at = list.from
    for (let field = 0; field < fields; field++) {
      if (at >= list.to) throw new RlpError(`transaction of type ${type} with ${field} fields`)
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

  /** Minimal, as RLP wants it: a span keeps the value and not the form. */
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
      if (half.length > signatureHalf) throw new RangeError(`half a signature of ${half.length} bytes`)
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
