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

const [comma, opening, closing] = [0x2c, 0x5b, 0x5d]
const leastScratchBytes = 2 ** 20
/** A longer list takes memory of its own. */
const mostScratchBytes = 2 ** 23

/** Memory in which lists are written, because their lengths are not known before. */
let scratch: Buffer = Buffer.alloc(0)

/** Returns memory of at least `length` bytes that begins with the first `used` bytes of `bytes`. */
function grown(bytes: Buffer, used: number, length: number): Buffer {
  if (length <= bytes.length) return bytes
  const longer = Buffer.allocUnsafeSlow(Math.max(leastScratchBytes, 2 * length))
  bytes.copy(longer, 0, 0, used)
  return longer
}

/**
 * Makes a list. Each item is written before the next one is made, so that few of their texts exist at once.
 * @param itemAt returns the JSON of an item, ASCII
 */
export function keptList(count: number, itemAt: (index: number) => string): JsonArrayBuffer {
  const starts = new Uint32Array(count + 1)
  let [bytes, length] = [grown(scratch, 0, 2), 1]
  bytes[0] = opening
  for (let index = 0; index < count; index++) {
    const item = itemAt(index)
    starts[index] = length
    const end = length + item.length
    bytes = grown(bytes, length, end + 1)
    bytes.write(item, length, 'latin1')
    bytes[end] = comma
    length = end + 1
  }
  starts[count] = length
  const kept = Buffer.allocUnsafeSlow(Math.max(length, 2))
  bytes.copy(kept, 0, 0, length)
  kept[kept.length - 1] = closing
  if (bytes.length <= mostScratchBytes) scratch = bytes
  return new JsonArrayBuffer(kept, starts)
}
