import { Buffer } from 'node:buffer'

/** A chunk of known length that is encoded each time it is sent. */
export type LazyChunk = { readonly length: number; encode(): Buffer }

/** Immutable list of byte chunks. As a result: JSON in UTF-8. */
export class ByteList {
  readonly #chunks: readonly (Buffer | LazyChunk)[]
  /** total length of the chunks */
  readonly length: number

  constructor(chunks: readonly (Buffer | LazyChunk)[]) {
    this.#chunks = chunks
    this.length = chunks.reduce((sum, { length }) => sum + length, 0)
  }

  /** Whether some chunks are encoded when they are sent, so that the list needs less memory than its length. */
  get isLazy(): boolean {
    return this.#chunks.some((chunk) => 'encode' in chunk)
  }

  /** The chunks in order. A lazy one is encoded when its turn comes. */
  *pieces(): Generator<Buffer, undefined> {
    for (const chunk of this.#chunks) yield 'encode' in chunk ? chunk.encode() : chunk
  }

  /** The chunks in one buffer. */
  joined(): Buffer {
    const [first, second] = this.#chunks
    return first instanceof Buffer && second === undefined ? first : Buffer.concat([...this.pieces()], this.length)
  }

  /** A copy with text before and after it. */
  between(before: string, after: string): ByteList {
    return ByteList.concat([Buffer.from(before, 'utf8'), this, Buffer.from(after, 'utf8')])
  }

  /** A list with the chunks of all parts. */
  static concat(parts: readonly (Buffer | ByteList)[]): ByteList {
    return new ByteList(parts.flatMap((part): readonly (Buffer | LazyChunk)[] => (part instanceof ByteList ? part.#chunks : [part])))
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
  readonly #pieces: (Buffer | LazyChunk)[] = []
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

  lazy(chunk: LazyChunk): void {
    this.#cut()
    this.#pieces.push(chunk)
    this.#length += chunk.length
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
