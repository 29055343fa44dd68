import { Buffer } from 'node:buffer'

/** Bytes that are sent one after the other and that nobody writes to; of a result: JSON in UTF-8. */
export class ByteList {
  readonly pieces: readonly Buffer[]
  /** of all together */
  readonly length: number

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces
    this.length = pieces.reduce((sum, { length }) => sum + length, 0)
  }

  /** In one piece. */
  joined(): Buffer {
    const [first, second] = this.pieces
    return first !== undefined && second === undefined ? first : Buffer.concat(this.pieces, this.length)
  }

  /** The same with text before and after it. */
  between(before: string, after: string): ByteList {
    return new ByteList([Buffer.from(before, 'utf8'), ...this.pieces, Buffer.from(after, 'utf8')])
  }

  toString(): string {
    return this.joined().toString('utf8')
  }
}

/** A piece this long is taken as it is; to copy a shorter one costs less than to send it by itself. */
const longBytes = 8_192
const blockBytes = 32_768

/** Puts a list of bytes together. */
export class ByteWriter {
  readonly #pieces: Buffer[] = []
  #block = Buffer.alloc(0)
  /** in the block: where what is not yet a piece begins, and where it ends */
  #from = 0
  #to = 0
  #length = 0

  /** written so far */
  get length(): number {
    return this.#length
  }

  /** Text without any character beyond ASCII. */
  ascii(text: string): void {
    this.#reserve(text.length)
    this.#block.write(text, this.#to, 'latin1')
    this.#to += text.length
    this.#length += text.length
  }

  /** One ASCII character. */
  byte(code: number): void {
    this.#reserve(1)
    this.#block[this.#to++] = code
    this.#length++
  }

  /** Bytes of a buffer that nobody writes to any more. */
  bytes(buffer: Buffer, from = 0, to = buffer.length): void {
    const length = to - from
    this.#length += length
    if (length >= longBytes) {
      this.#cut()
      this.#pieces.push(buffer.subarray(from, to))
      return
    }
    this.#reserve(length)
    buffer.copy(this.#block, this.#to, from, to)
    this.#to += length
  }

  finish(): ByteList {
    this.#cut()
    return new ByteList(this.#pieces)
  }

  #cut(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#block.subarray(this.#from, this.#to))
    this.#from = this.#to
  }

  #reserve(length: number): void {
    if (this.#to + length <= this.#block.length) return
    this.#cut()
    this.#block = Buffer.allocUnsafeSlow(Math.max(blockBytes, length))
    this.#from = this.#to = 0
  }
}
