import { Buffer } from 'node:buffer'

export const emptyBytes: Uint8Array = new Uint8Array(0)

/** Concatenates the parts into a new array. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const out = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Bytes of a short text. V8 moves a small array out of its heap, which costs a microsecond, once `Buffer` reads it. */
const shortText = Buffer.alloc(128)

/** Returns the bytes as a string with one character per byte, which compares fast as a map key. */
export function latin1(bytes: Uint8Array): string {
  const { length } = bytes
  if (length > shortText.length) return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1')
  for (let i = 0; i < length; i++) shortText[i] = bytes[i] ?? 0
  return shortText.toString('latin1', 0, length)
}

/** Compares lexicographically; a prefix sorts before a longer array. This is the key order of the store and of tries. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Scratch word for the conversions between bytes and integers. */
const wordBytes = new Uint8Array(32)
const wordView = new DataView(wordBytes.buffer)

/** Returns the unsigned big-endian integer of any number of bytes. */
export function bigintFromBytes(bytes: Uint8Array): bigint {
  if (bytes.length <= 6) return BigInt(numberFromBytes(bytes))
  if (bytes.length <= 32) return bigintOfWord(bytes)
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`)
}

function bigintOfWord(bytes: Uint8Array): bigint {
  wordBytes.fill(0, 0, 32 - bytes.length)
  wordBytes.set(bytes, 32 - bytes.length)
  let at = 0
  while (at < 24 && wordView.getUint32(at) === 0 && wordView.getUint32(at + 4) === 0) at += 8
  let value = wordView.getBigUint64(at)
  for (at += 8; at < 32; at += 8) value = (value << 64n) | wordView.getBigUint64(at)
  return value
}

/** Returns the unsigned big-endian integer of at most 6 bytes; throws RangeError for more. */
export function numberFromBytes(bytes: Uint8Array): number {
  if (bytes.length > 6) throw new RangeError(`${bytes.length} bytes do not fit a safe integer`)
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  return value
}

/** Reads the big-endian u32 at offset `at` without creating a view; bytes beyond the end count as zero. */
export function u32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0
}

/** Encodes an integer as exactly `length` big-endian bytes; throws RangeError when it does not fit. */
export function bytesFromBigint(value: bigint, length: number): Uint8Array {
  if (length <= 32 && value >= 0n && setWord(value, 32 - length)) return wordBytes.slice(32 - length)
  const hex = value.toString(16)
  if (value < 0n || hex.length > length * 2) throw new RangeError(`${value} does not fit ${length} bytes`)
  const out = new Uint8Array(length)
  out.set(Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex'), length - ((hex.length + 1) >> 1))
  return out
}

/** Writes an integer into the scratch word. @returns whether the first `zeros` bytes of the word are zero */
function setWord(value: bigint, zeros: number): boolean {
  let rest = value
  for (let at = 24; at >= 0; at -= 8) {
    wordView.setBigUint64(at, rest)
    if (rest !== 0n) rest >>= 64n
  }
  for (let at = 0; at < zeros; at++) if (wordBytes[at] !== 0) return false
  return rest === 0n
}

/** Encodes an integer as big-endian bytes without leading zeros; zero becomes the empty array (an RLP scalar). */
export function scalarBytes(value: bigint): Uint8Array {
  if (value === 0n) return emptyBytes
  const hex = value.toString(16)
  return new Uint8Array(Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex'))
}

/** Pads with zeros on the left to `length`; throws RangeError when the input is longer. */
export function padLeft(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes
  if (bytes.length > length) throw new RangeError(`${bytes.length} bytes do not fit ${length}`)
  const out = new Uint8Array(length)
  out.set(bytes, length - bytes.length)
  return out
}

/** Returns a view without the leading zero bytes; does not copy. */
export function trimLeft(bytes: Uint8Array): Uint8Array {
  let from = 0
  while (from < bytes.length && bytes[from] === 0) from++
  return bytes.subarray(from)
}

/** Encodes a safe integer as a big-endian u64, for block numbers in store keys; throws RangeError for any other number. */
export function u64Bytes(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a safe integer`)
  const out = new Uint8Array(8)
  let rest = value
  for (let at = 7; rest > 0; at--) {
    out[at] = rest
    rest = Math.floor(rest / 256)
  }
  return out
}

/** Decodes the first 8 big-endian bytes as a safe integer; throws RangeError at 2^53 and above. */
export function u64FromBytes(bytes: Uint8Array): number {
  if (bytes.length < 8) throw new RangeError(`${bytes.length} bytes are fewer than the 8 of a u64`)
  let value = 0
  for (let at = 0; at < 8; at++) value = value * 256 + (bytes[at] ?? 0)
  if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`${value} is not a safe integer`)
  return value
}
