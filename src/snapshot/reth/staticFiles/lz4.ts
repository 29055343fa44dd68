/** Shortest match of the format. */
const minMatch = 4

/**
 * Decodes a bare LZ4 block: sequences of literals and matches, without length and checksum.
 * @returns at most `maxBytes` bytes; undefined for a block that is damaged or decodes to more
 * @see LZ4 block format description, "Compressed block format"
 */
export function decodeLz4Block(block: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const out = new Uint8Array(maxBytes)
  let at = 0
  let to = 0
  /** Reads the bytes that continue a length of 15. A length that exceeds the output ends the decoding, so no sum overflows. */
  const longer = (length: number): number => {
    let sum = length
    for (let byte = 255; byte === 255; sum += byte) {
      byte = block[at++] ?? Number.NaN
      if (Number.isNaN(byte) || sum > maxBytes) return Number.POSITIVE_INFINITY
    }
    return sum
  }
  while (at < block.length) {
    const token = block[at++] ?? 0
    const literals = token >> 4 === 15 ? longer(15) : token >> 4
    if (to + literals > maxBytes || at + literals > block.length) return undefined
    out.set(block.subarray(at, at + literals), to)
    at += literals
    to += literals
    // the last sequence has no match
    if (at === block.length) return out.subarray(0, to)
    const distance = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8)
    at += 2
    const match = minMatch + ((token & 15) === 15 ? longer(15) : token & 15)
    if (at > block.length || distance === 0 || distance > to || to + match > maxBytes) return undefined
    for (let end = to + match; to < end; to++) out[to] = out[to - distance] ?? 0
  }
  return undefined
}
