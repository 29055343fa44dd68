import { rlpHead } from '#lib/rlp'
import { MalformedError } from './decoded.ts'

const u64Limit = 1n << 64n

/** Reader of consecutive fields. The arrays it returns are views of the input. MalformedError past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  get peeked(): number | undefined {
    return this.#bytes[this.#at]
  }

  take(length: number): Uint8Array {
    if (length > this.left) throw new MalformedError(`${length} bytes expected, ${this.left} left`)
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new MalformedError('1 byte expected, 0 left')
    this.#at++
    return byte
  }

  /** Returns a reader of the same bytes from here on. */
  fork(): ByteReader {
    return new ByteReader(this.#bytes.subarray(this.#at))
  }

  /** Reads a big-endian integer of at most 6 bytes. */
  uint(length: number): number {
    let value = 0
    for (const byte of this.take(length)) value = value * 256 + byte
    return value
  }

  /** Reads a base-128 integer of at most 64 bits in protobuf's encoding. Encodings longer than necessary are accepted. */
  uvarint(): bigint {
    let small = 0
    for (let i = 0; i < 7; i++) {
      const byte = this.byte()
      small += (byte & 0x7f) * 2 ** (7 * i)
      if (byte < 0x80) return BigInt(small)
    }
    let value = BigInt(small)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 0x7f) << shift
      if (value >= u64Limit) break
      if (byte < 0x80) return value
    }
    throw new MalformedError('integer of more than 64 bits')
  }

  /** Reads a base-128 integer that counts elements. MalformedError above `max`. */
  count(max: number): number {
    let value = 0
    for (let i = 0; i < 10; i++) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** (7 * i)
      if (value > max) throw new MalformedError(`more than ${max} elements`)
      if (byte < 0x80) return value
    }
    throw new MalformedError('integer of more than 64 bits')
  }

  /** Reads one RLP item and returns it encoded. The items of a list are not read. RlpError when the head is not canonical. */
  rlp(): Uint8Array {
    return this.take(rlpHead(this.#bytes, this.#at).to - this.#at)
  }
}

/** Encodes a u64 as a base-128 integer in protobuf's encoding. */
export function encodeUvarint(value: bigint | number): Uint8Array {
  let rest = BigInt(value)
  if (rest < 0n || rest >= u64Limit) throw new RangeError(`${value} is not a u64`)
  const bytes: number[] = []
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
