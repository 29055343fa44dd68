/** Byte buffer that grows: appends are amortised and allocate no array per piece. */
export class GrowingBytes {
  #bytes: Uint8Array
  #length = 0

  /** @param sizeBytes size up to which appends do not copy the buffer */
  constructor(sizeBytes = 1024) {
    this.#bytes = new Uint8Array(sizeBytes)
  }

  get length(): number {
    return this.#length
  }

  push(piece: Uint8Array): void {
    this.#reserve(piece.length)
    this.#bytes.set(piece, this.#length)
    this.#length += piece.length
  }

  /** Appends the piece, padded with zeros on the left to `width` bytes. */
  pushPadded(piece: Uint8Array, width: number): void {
    this.#reserve(width)
    this.#bytes.set(piece, this.#length + width - piece.length)
    this.#length += width
  }

  /** Appends a safe integer as a base-128 integer in protobuf's encoding. */
  pushUvarint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** Returns a view of all appended bytes. It is valid until the next push. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
