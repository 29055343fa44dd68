import { Buffer } from 'node:buffer'

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/**
 * Cuts a stream of bytes into consecutive JSON values, with or without white space between them. Brackets delimit objects and lists; any other
 * value extends to the next white space or bracket, and is left for the JSON parser to refuse.
 */
export class JsonStream {
  readonly #maxBytes: number
  #kept: Buffer[] = []
  #keptBytes = 0
  #depth = 0
  #isInString = false
  #isEscaped = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns the values that end in this piece; undefined when a value is longer than the limit */
  take(piece: Buffer): readonly Buffer[] | undefined {
    const values: Buffer[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const end = this.#endOf(piece[at] ?? 0, at)
      if (end === undefined) continue
      const value = this.#join(piece.subarray(from, end))
      if (value.length > this.#maxBytes) return undefined
      if (!value.every(isBlank)) values.push(value)
      from = end
    }
    this.#kept.push(piece.subarray(from))
    this.#keptBytes += piece.length - from
    return this.#keptBytes > this.#maxBytes ? undefined : values
  }

  /** Offset at which a value ends because of this byte (after or before it), or undefined. */
  #endOf(byte: number, at: number): number | undefined {
    if (this.#isInString) return this.#inString(byte)
    if (this.#depth === 0 && isBlank(byte)) return at + 1
    if (byte === quote && this.#depth > 0) this.#isInString = true
    else if (byte === openBrace || byte === openBracket) return this.#depth++ === 0 ? at : undefined
    else if ((byte === closeBrace || byte === closeBracket) && this.#depth > 0 && --this.#depth === 0) return at + 1
    return undefined
  }

  #inString(byte: number): undefined {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInString = false
  }

  #join(last: Buffer): Buffer {
    const value = this.#kept.length === 0 ? last : Buffer.concat([...this.#kept, last])
    this.#kept = []
    this.#keptBytes = 0
    return value
  }
}
