import { bytesFromBigint } from '#lib/bytes'
import type { Address, Hash } from '#types/ids'

/** An EVM word: an unsigned integer below 2^256. Addresses are words below 2^160. */
export type Word = bigint

const mask160 = (1n << 160n) - 1n
const limit64 = 1n << 64n
const scratch = new DataView(new ArrayBuffer(32))
const scratchBytes = new Uint8Array(scratch.buffer)

/** Reads 32 big-endian bytes; the caller has checked the length. */
export function readWord(view: DataView, at: number): Word {
  const a = view.getBigUint64(at)
  const b = view.getBigUint64(at + 8)
  const c = view.getBigUint64(at + 16)
  const d = view.getBigUint64(at + 24)
  if (a === 0n && b === 0n) return c === 0n ? d : (c << 64n) | d
  return (((((a << 64n) | b) << 64n) | c) << 64n) | d
}

export function writeWord(view: DataView, at: number, word: Word): void {
  view.setBigUint64(at + 24, word)
  if (word < limit64) {
    view.setBigUint64(at + 16, 0n)
    view.setBigUint64(at + 8, 0n)
    view.setBigUint64(at, 0n)
    return
  }
  const high = word >> 64n
  view.setBigUint64(at + 16, high)
  view.setBigUint64(at + 8, high >> 64n)
  view.setBigUint64(at, high >> 128n)
}

/** Reads 32 bytes at `from`, padded with zeros past the end of the array. */
export function wordFromPadded(bytes: Uint8Array, from: number): Word {
  for (let i = 0; i < 32; i++) scratchBytes[i] = bytes[from + i] ?? 0
  return readWord(scratch, 0)
}

/** Reads a big-endian integer of at most 32 bytes. */
export function wordFromBytes(bytes: Uint8Array): Word {
  const start = 32 - bytes.length
  for (let i = 0; i < 32; i++) scratchBytes[i] = i < start ? 0 : (bytes[i - start] ?? 0)
  return readWord(scratch, 0)
}

export const wordBytes = (word: Word): Uint8Array => {
  const bytes = new Uint8Array(32)
  writeWord(new DataView(bytes.buffer), 0, word)
  return bytes
}

export const addressWord = (word: Word): Word => (word > mask160 ? word & mask160 : word)

export const addressBytes = (address: Word): Uint8Array => bytesFromBigint(address, 20)

export const addressOf = (address: Word): Address => `0x${address.toString(16).padStart(40, '0')}` as Address

export const hashOf = (word: Word): Hash => `0x${word.toString(16).padStart(64, '0')}` as Hash

/** Converts a word to a number, or Infinity when it is not a safe integer. */
export function sizeOf(word: Word): number {
  return word > 0x1fffffffffffffn ? Number.POSITIVE_INFINITY : Number(word)
}
