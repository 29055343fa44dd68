// Conversion of words to and from big-endian bytes. word.ts defines a word.

/** Returns 16 bytes in reverse order. */
// @ts-ignore: decorator
@inline
function reversed(bytes: v128): v128 {
  return i8x16.shuffle(bytes, bytes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

/** Reads 32 big-endian bytes, at any address, into a word; they may overlap. */
// @ts-ignore: decorator
@inline
export function loadBig(to: usize, from: usize): void {
  const high = v128.load(from)
  const low = v128.load(from, 16)
  v128.store(to, reversed(low))
  v128.store(to, reversed(high), 16)
}

/** Writes a word as 32 big-endian bytes, at any address; they may overlap. */
// @ts-ignore: decorator
@inline
export function storeBig(to: usize, from: usize): void {
  loadBig(to, from)
}

/** Returns `value` without the bytes from `count` on; a negative count gives 0. */
// @ts-ignore: decorator
@inline
function lowBytes(value: u64, count: i32): u64 {
  if (count >= 8) return value
  return count <= 0 ? 0 : value & ((<u64>1 << (count << 3)) - 1)
}

/**
 * Reads a big-endian number of 0 to 32 bytes into a word.
 * @param from address of the first byte. Bytes before it are read and ignored, so from + count must be at least 32; no bytes after the number are
 * read
 */
export function readBytes(to: usize, from: usize, count: u32): void {
  const end = from + count
  const n = i32(count)
  const w0 = lowBytes(bswap(load<u64>(end - 8)), n)
  const w1 = lowBytes(bswap(load<u64>(end - 16)), n - 8)
  const w2 = lowBytes(bswap(load<u64>(end - 24)), n - 16)
  const w3 = lowBytes(bswap(load<u64>(end - 32)), n - 24)
  store<u64>(to, w0)
  store<u64>(to, w1, 8)
  store<u64>(to, w2, 16)
  store<u64>(to, w3, 24)
}
