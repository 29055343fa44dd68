import { Buffer } from 'node:buffer'

/** A JSON array in one ASCII buffer, with access to single items. */
export class JsonArrayBuffer {
  readonly bytes: Buffer
  /** offset of each item, and of the end */
  readonly #starts: Uint32Array

  constructor(bytes: Buffer, starts: Uint32Array) {
    this.bytes = bytes
    this.#starts = starts
  }

  get count(): number {
    return this.#starts.length - 1
  }

  get sizeBytes(): number {
    return this.bytes.length + this.#starts.byteLength
  }

  /** Offset of an item. @throws RangeError beyond the end */
  start(index: number): number {
    const start = this.#starts[index]
    if (start === undefined) throw new RangeError(`item ${index} of ${this.count}`)
    return start
  }

  /** Offset after an item, where a comma or the closing bracket follows. @throws RangeError beyond the end */
  end(index: number): number {
    return this.start(index + 1) - 1
  }

  /** One item. @throws RangeError beyond the end */
  text(index: number): string {
    return this.bytes.toString('latin1', this.start(index), this.end(index))
  }
}

/** @param items JSON, ASCII */
export function keptList(items: readonly string[]): JsonArrayBuffer {
  const starts = new Uint32Array(items.length + 1)
  let length = 1
  for (const [index, item] of items.entries()) {
    starts[index] = length
    length += item.length + 1
  }
  starts[items.length] = length
  const bytes = Buffer.allocUnsafeSlow(Math.max(length, 2)).fill('[', 0, 1)
  for (const [index, item] of items.entries()) {
    const start = starts[index] ?? 0
    bytes.write(item, start, 'latin1')
    bytes[start + item.length] = 0x2c
  }
  bytes[bytes.length - 1] = 0x5d
  return new JsonArrayBuffer(bytes, starts)
}
