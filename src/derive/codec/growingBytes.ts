/** Bytes that are appended to: amortised, without an array for each piece. */
export class GrowingBytes {
  #bytes = new Uint8Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(piece: Uint8Array): void {
    this.#reserve(piece.length)
    this.#bytes.set(piece, this.#length)
    this.#length += piece.length
  }

  /** Zeros, then the piece, `width` bytes together. */
  pushPadded(piece: Uint8Array, width: number): void {
    this.#reserve(width)
    this.#bytes.set(piece, this.#length + width - piece.length)
    this.#length += width
  }

  /** Protobuf's base-128 form of a safe integer. */
  pushUvarint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** What has been pushed: a view, until the next push. */
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
