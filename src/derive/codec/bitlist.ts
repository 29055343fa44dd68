import type { ByteReader } from './byteReader.ts'
import { MalformedError } from './decoded.ts'

/** List of bits, encoded as a big-endian integer: bit i of the list is bit i of the integer. @see specs delta/span-batches.md, "bitlists" */
export type Bitlist = { readonly length: number; has(index: number): boolean; readonly ones: number }

const sizeOf = (length: number): number => Math.ceil(length / 8)

/** Reads a bitlist, as a copy of its bytes. MalformedError when the integer has more bits than the list. */
export function readBitlist(reader: ByteReader, length: number): Bitlist {
  const bytes = reader.take(sizeOf(length)).slice()
  const spare = bytes.length * 8 - length
  if (spare > 0 && (bytes[0] ?? 0) >> (8 - spare) !== 0) throw new MalformedError(`bits set beyond the ${length} of the list`)
  let ones = 0
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) ones++
  const last = bytes.length - 1
  return { length, ones, has: (index) => (((bytes[last - (index >> 3)] ?? 0) >> (index & 7)) & 1) === 1 }
}

export function encodeBitlist(bits: readonly boolean[]): Uint8Array {
  const out = new Uint8Array(sizeOf(bits.length))
  const last = out.length - 1
  for (const [index, bit] of bits.entries()) {
    if (bit) out[last - (index >> 3)] = (out[last - (index >> 3)] ?? 0) | (1 << (index & 7))
  }
  return out
}
