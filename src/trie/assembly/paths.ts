// Paths of nibbles from the root, two per byte as in keys: nibble i is in byte i / 2, the even ones in the upper half.
import { take } from './arena'

// @ts-ignore: decorator
@inline
export function nibble(path: usize, i: u32): u32 {
  return (load<u8>(path + (i >> 1)) >> (4 & ~(i << 2))) & 15
}

function setNibble(path: usize, i: u32, value: u32): void {
  const at = path + (i >> 1)
  const byte = load<u8>(at)
  store<u8>(at, (i & 1) == 0 ? (value << 4) | (byte & 15) : (byte & 0xf0) | value)
}

/** Returns the first index from `from` on where the paths differ; `end` if there is none before it. */
export function parting(a: usize, b: usize, from: u32, end: u32): u32 {
  while (from < end && nibble(a, from) == nibble(b, from)) from++
  return from
}

/** Compares the nibbles [from, end): negative, 0 or positive. */
export function compareNibbles(a: usize, b: usize, from: u32, end: u32): i32 {
  const at = parting(a, b, from, end)
  return at == end ? 0 : i32(nibble(a, at)) - i32(nibble(b, at))
}

/** Returns the number of nibbles of a hex prefix; -1: its flags are wrong. @see yellow paper, appendix C */
export function prefixNibbles(at: usize, size: u32): i32 {
  if (size == 0) return -1
  const first = load<u8>(at)
  const odd = (first >> 4) & 1
  if (first >= 0x40 || (odd == 0 && (first & 15) != 0)) return -1
  return i32(2 * (size - 1) + odd)
}

/** Returns a path of which the first `depth` nibbles are those of `key` and the others those of a hex prefix. */
export function joined(key: usize, depth: u32, prefix: usize, count: u32): usize {
  const path = take((depth + count + 2) >> 1)
  memory.copy(path, key, (depth + 1) >> 1)
  // nibbles of the hex prefix begin at its second nibble if their number is odd, else at its third
  const skip = 2 - (count & 1)
  for (let i: u32 = 0; i < count; i++) setNibble(path, depth + i, nibble(prefix, skip + i))
  return path
}

/** Returns a path with one more nibble. */
export function withNibble(key: usize, depth: u32, value: u32): usize {
  const path = take((depth + 2) >> 1)
  memory.copy(path, key, (depth + 1) >> 1)
  setNibble(path, depth, value)
  return path
}

// @ts-ignore: decorator
@inline
export function prefixBytes(count: u32): u32 {
  return (count >> 1) + 1
}

/** Writes the hex prefix of the nibbles [from, end) of a path. */
export function writePrefix(to: usize, path: usize, from: u32, end: u32, isLeaf: bool): void {
  const odd = (end - from) & 1
  store<u8>(to++, (isLeaf ? 0x20 : 0) | (odd == 1 ? 0x10 | nibble(path, from) : 0))
  for (let i = from + odd; i < end; i += 2) store<u8>(to++, (nibble(path, i) << 4) | nibble(path, i + 1))
}

/** Writes the first `depth` nibbles of a path, one per byte. */
export function writeNibbles(to: usize, path: usize, depth: u32): void {
  for (let i: u32 = 0; i < depth; i++) store<u8>(to + i, nibble(path, i))
}
