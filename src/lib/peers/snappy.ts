import { createRequire } from 'node:module'

const snappyjs: { compress(data: Uint8Array): Uint8Array } = createRequire(import.meta.url)('snappyjs')

/** Returns the declared length and its number of bytes; undefined: the header is truncated or exceeds a u32. */
function declaredLength(block: Uint8Array): { readonly length: number; readonly from: number } | undefined {
  let length = 0
  for (let at = 0; at < 5; at++) {
    const byte = block[at]
    if (byte === undefined) return undefined
    length += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return length > 0xffff_ffff ? undefined : { length, from: at + 1 }
  }
  return undefined
}

const little = (bytes: Uint8Array, at: number, count: number): number => {
  let value = 0
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0)
  return value
}

/** Repeats the last `offset` bytes before `to` until `length` bytes are written. The ranges may overlap. */
function repeat(out: Uint8Array, to: number, offset: number, length: number): void {
  let done = Math.min(offset, length)
  out.copyWithin(to, to - offset, to - offset + done)
  while (done < length) {
    const more = Math.min(done, length - done)
    out.copyWithin(to + done, to, to + more)
    done += more
  }
}

const literal = -1
/** Element of a block. `bytes`: between its tag and the end of its header; `offset`: of a copy, or `literal`. */
type Element = { readonly bytes: number; readonly length: number; readonly offset: number }

/** Reads the header of the element at an offset; bytes beyond the end count as zero. */
function elementAt(block: Uint8Array, at: number): Element {
  const tag = block[at] ?? 0
  const kind = tag & 3
  if (kind === 0) {
    const bytes = Math.max(0, (tag >> 2) - 59)
    return { bytes, length: (bytes === 0 ? tag >> 2 : little(block, at + 1, bytes)) + 1, offset: literal }
  }
  if (kind === 1) return { bytes: 1, length: ((tag >> 2) & 7) + 4, offset: (tag >> 5) * 256 + little(block, at + 1, 1) }
  const bytes = kind === 2 ? 2 : 4
  return { bytes, length: (tag >> 2) + 1, offset: little(block, at + 1, bytes) }
}

/**
 * Decompresses one block. Allocates the declared length only, and never more than `maxBytes`; time is linear in both lengths.
 * @returns undefined when the block is malformed or declares more than `maxBytes`
 * @see google/snappy format_description.txt
 */
export function decodeSnappyBlock(block: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const declared = declaredLength(block)
  if (declared === undefined || declared.length > maxBytes) return undefined
  const out = new Uint8Array(declared.length)
  let at = declared.from
  let to = 0
  while (at < block.length) {
    const { bytes, length, offset } = elementAt(block, at)
    at += 1 + bytes
    if (at > block.length || length > out.length - to) return undefined
    if (offset === literal) {
      if (length > block.length - at) return undefined
      out.set(block.subarray(at, at + length), to)
      at += length
    } else {
      if (offset === 0 || offset > to) return undefined
      repeat(out, to, offset, length)
    }
    to += length
  }
  return to === out.length ? out : undefined
}

/** Compresses bytes into one block. */
export const encodeSnappyBlock = (data: Uint8Array): Uint8Array => snappyjs.compress(data)
