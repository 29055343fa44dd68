import { Buffer } from 'node:buffer'

/** Immutable list of byte chunks. As a result: JSON in UTF-8. */
export class ByteList {
  readonly pieces: readonly Buffer[]
  /** total length of the chunks */
  readonly length: number

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces
    this.length = pieces.reduce((sum, { length }) => sum + length, 0)
  }

  /** The chunks in one buffer. */
  joined(): Buffer {
    const [first, second] = this.pieces
    return first !== undefined && second === undefined ? first : Buffer.concat(this.pieces, this.length)
  }

  /** A copy with text before and after it. */
  between(before: string, after: string): ByteList {
    return new ByteList([Buffer.from(before, 'utf8'), ...this.pieces, Buffer.from(after, 'utf8')])
  }

  toString(): string {
    return this.joined().toString('utf8')
  }
}

/** Length from which a chunk is not copied. Copying a shorter chunk costs less than sending it separately. */
const longBytes = 8_192
/**
 * Bytes of the first block; a later one has as many as all before it, up to a bound from which on blocks have pages of their own. Many small blocks would
 * leave the heap of glibc full of holes.
 */
const blockBytes = { first: 32_768, most: 2 ** 20 }

/** Builds a list of byte chunks. */
export class ByteWriter {
  readonly #pieces: Buffer[] = []
  #block = Buffer.alloc(0)
  /** range in the block that is not a chunk yet */
  #from = 0
  #to = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Writes text of ASCII characters only. */
  ascii(text: string): void {
    this.#reserve(text.length)
    this.#block.write(text, this.#to, 'latin1')
    this.#to += text.length
    this.#length += text.length
  }

  byte(code: number): void {
    this.#reserve(1)
    this.#block[this.#to++] = code
    this.#length++
  }

  /** Writes bytes of a buffer that does not change later. */
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
    this.#block = Buffer.allocUnsafeSlow(Math.max(blockBytes.first, Math.min(blockBytes.most, this.#length), length))
    this.#from = this.#to = 0
  }
}
