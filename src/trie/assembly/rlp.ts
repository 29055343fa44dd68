// RLP in memory. Each function rejects what `src/lib/rlp.ts` rejects.

/** Content of the item that `readHead` has read. */
export let headFrom: usize = 0
export let headTo: usize = 0
export let headIsList: bool = false

/** Reads the head of an item that must not exceed `end`; false: it is not canonical. */
export function readHead(at: usize, end: usize): bool {
  if (at >= end) return false
  const first = u32(load<u8>(at))
  headIsList = first >= 0xc0
  headFrom = at
  headTo = at + 1
  if (first < 0x80) return true
  headFrom = at + 1
  let size = first - (headIsList ? 0xc0 : 0x80)
  if (size > 55) {
    const width = size - 55
    if (width > 3 || headFrom + width > end) return false
    size = 0
    for (let i: u32 = 0; i < width; i++) size = (size << 8) | load<u8>(headFrom + i)
    if (size < 56 || load<u8>(headFrom) == 0) return false
    headFrom += width
  }
  headTo = headFrom + size
  if (headTo > end) return false
  return headIsList || size != 1 || load<u8>(headFrom) >= 0x80
}

/** Returns the size of a list or string, with its head, of `size` bytes of content. */
export function withHead(size: u32): u32 {
  return size + (size < 56 ? 1 : size < 0x100 ? 2 : size < 0x10000 ? 3 : 4)
}

// @ts-ignore: decorator
@inline
function isByte(at: usize, size: u32): bool {
  return size == 1 && load<u8>(at) < 0x80
}

/** Returns the size of a string as an item. */
export function stringSize(at: usize, size: u32): u32 {
  return isByte(at, size) ? 1 : withHead(size)
}

/** Writes a head; returns the address after it. @param base 0xc0 for a list, 0x80 for a string */
export function writeHead(to: usize, size: u32, base: u32): usize {
  if (size < 56) {
    store<u8>(to, base + size)
    return to + 1
  }
  const width: u32 = size < 0x100 ? 1 : size < 0x10000 ? 2 : 3
  store<u8>(to++, base + 55 + width)
  for (let i = width; i > 0; i--) store<u8>(to++, size >> (8 * (i - 1)))
  return to
}

/** Writes a string as an item; returns the address after it. */
export function writeString(to: usize, at: usize, size: u32): usize {
  if (!isByte(at, size)) to = writeHead(to, size, 0x80)
  memory.copy(to, at, size)
  return to + size
}
