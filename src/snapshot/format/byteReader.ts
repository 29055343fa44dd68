import { u32At } from '#lib/bytes'

/** Thrown when the bytes of a chunk are not what the format permits. */
export class FormatError extends Error {}

/** Reads a chunk from front to back. Every read is bounded by the bytes that are left. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    return this.take(1)[0] as number
  }

  u32(): number {
    return u32At(this.take(4), 0)
  }

  /** Returns a view of the next bytes. @throws FormatError when fewer are left */
  take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new FormatError(`it ends ${end - this.#bytes.length} bytes too early`)
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }
}

/** Collects bytes in one growing buffer. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(2 ** 16)
  #length = 0

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  u32(value: number): void {
    this.#room(4)
    this.#length = this.#bytes.writeUInt32BE(value, this.#length)
  }

  bytes(part: Uint8Array): void {
    this.#room(part.length)
    this.#bytes.set(part, this.#length)
    this.#length += part.length
  }

  /** Overwrites four bytes. */
  patchU32(at: number, value: number): void {
    this.#bytes.writeUInt32BE(value, at)
  }

  /** Returns a view of the bytes, valid until the next change. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  #room(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
