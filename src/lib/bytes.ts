import { Buffer } from 'node:buffer'

export const emptyBytes: Uint8Array = new Uint8Array(0)

/** The parts one after another, in a new array. */
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

/** Lexicographic order, shorter first: the order of keys in the store and in a trie. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Where one word at a time is turned from bytes to an integer and back. */
const wordBytes = new Uint8Array(32)
const wordView = new DataView(wordBytes.buffer)

/** Unsigned big-endian integer of any length. */
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

/** Unsigned big-endian integer of at most 6 bytes; RangeError above. */
export function numberFromBytes(bytes: Uint8Array): number {
  if (bytes.length > 6) throw new RangeError(`${bytes.length} bytes do not fit a safe integer`)
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  return value
}

/** The big-endian u32 at a place, without a view of it; bytes beyond the end count as zero. */
export function u32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0
}

/** Big-endian in exactly `length` bytes; RangeError when it does not fit. */
export function bytesFromBigint(value: bigint, length: number): Uint8Array {
  if (length <= 32 && value >= 0n && setWord(value, 32 - length)) return wordBytes.slice(32 - length)
  const hex = value.toString(16)
  if (value < 0n || hex.length > length * 2) throw new RangeError(`${value} does not fit ${length} bytes`)
  const out = new Uint8Array(length)
  out.set(Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex'), length - ((hex.length + 1) >> 1))
  return out
}

/** Writes an integer into the word. @returns whether it leaves so many leading bytes zero */
function setWord(value: bigint, zeros: number): boolean {
  let rest = value
  for (let at = 24; at >= 0; at -= 8) {
    wordView.setBigUint64(at, rest)
    if (rest !== 0n) rest >>= 64n
  }
  for (let at = 0; at < zeros; at++) if (wordBytes[at] !== 0) return false
  return rest === 0n
}

/** Big-endian without leading zeros; zero is no bytes at all (an RLP scalar). */
export function scalarBytes(value: bigint): Uint8Array {
  if (value === 0n) return emptyBytes
  const hex = value.toString(16)
  return new Uint8Array(Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex'))
}

/** Left-padded with zeros to `length`; RangeError when longer. */
export function padLeft(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes
  if (bytes.length > length) throw new RangeError(`${bytes.length} bytes do not fit ${length}`)
  const out = new Uint8Array(length)
  out.set(bytes, length - bytes.length)
  return out
}

/** Without its leading zero bytes: a view, not a copy. */
export function trimLeft(bytes: Uint8Array): Uint8Array {
  let from = 0
  while (from < bytes.length && bytes[from] === 0) from++
  return bytes.subarray(from)
}

/** u64 big-endian of a safe integer, RangeError of another number: block numbers in store keys. */
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

/** The safe integer in 8 big-endian bytes; RangeError at 2^53 and above. */
export function u64FromBytes(bytes: Uint8Array): number {
  if (bytes.length < 8) throw new RangeError(`${bytes.length} bytes are no u64`)
  let value = 0
  for (let at = 0; at < 8; at++) value = value * 256 + (bytes[at] ?? 0)
  if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`${value} is not a safe integer`)
  return value
}
