/** Number of bits in the hash of a three-byte sequence. */
const hashBits = 13
/** Maximum distance in bytes between a match and its earlier occurrence. */
const maxDistance = (1 << hashBits) - 1
const literalRun = 32
/** Maximum length in bytes of a match in one instruction. Longer matches take several instructions. */
const matchRun = 262
/** Number of bytes at the end of the input that are always literals: no match begins there. */
const tailBytes = 13

function literalsLength(count: number): number {
  const rest = count % literalRun
  return Math.floor(count / literalRun) * (literalRun + 1) + (rest === 0 ? 0 : rest + 1)
}

function matchLength(count: number): number {
  const rest = (count - 1) % matchRun
  return Math.floor((count - 1) / matchRun) * 3 + (rest >= 6 ? 3 : 2)
}

/** Last position of each hash, plus the `base` of its input. Smaller values belong to earlier inputs, so the table need not be cleared. */
const seen = new Uint32Array(1 << hashBits)
let base = 1

/** Reserves positions in the table for an input of `length` bytes. @returns the position of the input's first byte */
function emptyTable(length: number): number {
  if (base + length > 0xffff_ffff) {
    seen.fill(0)
    base = 1
  }
  const first = base
  base += length
  return first
}

const triple = (input: Uint8Array, at: number): number => (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8) | ((input[at + 2] ?? 0) << 16)
const slotOf = (value: number): number => (Math.imul(value, 0x9e3779b9) >>> 19) & maxDistance

/**
 * Returns the length in bytes of the FastLZ compression of the input (level 1, in the variant that the fee contracts use). No output is written.
 * Cost: O(bytes).
 * @see specs protocol/fjord/exec-engine.md, "L1-Cost fee changes (FastLZ estimator)"
 */
export function fastLzLength(input: Uint8Array): number {
  const limit = input.length - tailBytes
  const first = emptyTable(input.length)
  let length = 0
  let literalsFrom = 0
  let at = 2
  while (at < limit) {
    const value = triple(input, at)
    const slot = slotOf(value)
    const earlier = Math.max(0, (seen[slot] ?? 0) - first)
    seen[slot] = first + at
    if (at - earlier > maxDistance || value !== triple(input, earlier)) {
      at++
      continue
    }
    // the last position before the limit enters the table but never begins a match
    if (at + 1 >= limit) break
    length += literalsLength(at - literalsFrom)
    const matched = countMatch(input, earlier + 3, at + 3, limit + 9)
    length += matchLength(matched)
    at += matched
    seen[slotOf(triple(input, at))] = first + at
    seen[slotOf(triple(input, at + 1))] = first + at + 1
    at += 2
    literalsFrom = at
  }
  return length + literalsLength(input.length - literalsFrom)
}

/** Returns the number of equal bytes at two positions, plus one for the first different byte; at most `end - at`. */
function countMatch(input: Uint8Array, earlier: number, at: number, end: number): number {
  const most = end - at
  let count = 0
  while (count < most) {
    const differs = input[earlier + count] !== input[at + count]
    count++
    if (differs) break
  }
  return count
}
