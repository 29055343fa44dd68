import { bigintFromBytes, emptyBytes, scalarBytes } from './bytes.ts'

export type RlpItem = Uint8Array | readonly RlpItem[]

/** Thrown when bytes are not canonical RLP or do not have the expected shape. */
export class RlpError extends Error {}

const maxDepth = 64

/** Encodes an item. @see Ethereum yellow paper, appendix B */
export function encodeRlp(item: RlpItem): Uint8Array {
  const out = new Uint8Array(encodedLength(item))
  write(item, out, 0)
  return out
}

/** Encodes a list of items that are already encoded. */
export function encodeRlpList(items: readonly Uint8Array[]): Uint8Array {
  let size = 0
  for (const item of items) size += item.length
  const out = new Uint8Array(rlpHeadLength(size) + size)
  let at = writeRlpHead(out, 0, size, 0xc0)
  for (const item of items) {
    out.set(item, at)
    at += item.length
  }
  return out
}

function contentLength(items: readonly RlpItem[]): number {
  let size = 0
  for (const item of items) size += encodedLength(item)
  return size
}

function encodedLength(item: RlpItem): number {
  if (item instanceof Uint8Array) return item.length === 1 && (item[0] ?? 0) < 0x80 ? 1 : rlpHeadLength(item.length) + item.length
  const size = contentLength(item)
  return rlpHeadLength(size) + size
}

/** Returns the length of the head of an item whose content has a size. */
export function rlpHeadLength(size: number): number {
  if (size < 56) return 1
  return size < 0x100 ? 2 : size < 0x10000 ? 3 : size < 0x1000000 ? 4 : 5
}

/** Writes the head of an item. @param base 0x80 for bytes, 0xc0 for a list @returns where its content begins */
export function writeRlpHead(out: Uint8Array, at: number, size: number, base: number): number {
  if (size < 56) {
    out[at] = base + size
    return at + 1
  }
  const bytes = rlpHeadLength(size) - 1
  out[at] = base + 55 + bytes
  for (let i = bytes; i > 0; i--) out[at + i] = size >>> (8 * (bytes - i))
  return at + 1 + bytes
}

function write(item: RlpItem, out: Uint8Array, start: number): number {
  let at = start
  if (item instanceof Uint8Array) {
    if (item.length === 1 && (item[0] ?? 0) < 0x80) {
      out[at] = item[0] ?? 0
      return at + 1
    }
    at = writeRlpHead(out, at, item.length, 0x80)
    out.set(item, at)
    return at + item.length
  }
  at = writeRlpHead(out, at, contentLength(item), 0xc0)
  for (const child of item) at = write(child, out, at)
  return at
}

/** Returns the content range of the item at `at` and whether it is a list. Throws RlpError on non-canonical input. */
export function rlpHead(bytes: Uint8Array, at: number): { isList: boolean; from: number; to: number } {
  const first = bytes[at]
  if (first === undefined) throw new RlpError('input too short')
  if (first < 0x80) return { isList: false, from: at, to: at + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  let from = at + 1
  let size = short
  if (short > 55) {
    const width = short - 55
    size = readSize(bytes, from, width)
    from += width
  }
  const to = from + size
  if (to > bytes.length) throw new RlpError('input too short')
  if (!isList && size === 1 && (bytes[from] ?? 0) < 0x80) throw new RlpError('single byte below 0x80 has a length')
  return { isList, from, to }
}

function readSize(bytes: Uint8Array, from: number, width: number): number {
  if (width > 4) throw new RlpError('length of more than 4 bytes')
  if (from + width > bytes.length) throw new RlpError('input too short')
  let size = 0
  for (let i = 0; i < width; i++) size = size * 256 + (bytes[from + i] ?? 0)
  if (size < 56 || (bytes[from] ?? 0) === 0) throw new RlpError('length is not minimal')
  return size
}

function read(bytes: Uint8Array, at: number, end: number, depth: number): { item: RlpItem; next: number } {
  const { isList, from, to } = rlpHead(bytes, at)
  if (to > end) throw new RlpError('item exceeds its list')
  if (!isList) return { item: bytes.subarray(from, to), next: to }
  if (depth === maxDepth) throw new RlpError('nested too deeply')
  const items: RlpItem[] = []
  let cursor = from
  while (cursor < to) {
    const { item, next } = read(bytes, cursor, to, depth + 1)
    items.push(item)
    cursor = next
  }
  return { item: items, next: to }
}

/** Decodes exactly one canonical item; its byte strings are views of the input. Throws RlpError. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, next } = read(bytes, 0, bytes.length, 0)
  if (next !== bytes.length) throw new RlpError(`${bytes.length - next} bytes after the item`)
  return item
}

/** Decodes the item at `at` of a stream and returns the offset after it. Throws RlpError, also when the item is truncated. */
export function decodeRlpPrefix(bytes: Uint8Array, at: number): { item: RlpItem; next: number } {
  return read(bytes, at, bytes.length, 0)
}

export function rlpList(item: RlpItem | undefined, what: string): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new RlpError(`${what}: list expected`)
  return item
}

/** Returns a byte string, of exactly `length` bytes when given; throws RlpError otherwise. */
export function rlpBytes(item: RlpItem | undefined, what: string, length?: number): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RlpError(`${what}: bytes expected`)
  if (length !== undefined && item.length !== length) throw new RlpError(`${what}: ${length} bytes expected, ${item.length} found`)
  return item
}

/** Returns the content of an encoded byte string, a view. Throws RlpError, also when the bytes are a list; the list is not read. */
export function rlpString(encoded: Uint8Array | undefined, what: string): Uint8Array {
  if (encoded === undefined) throw new RlpError(`${what}: missing`)
  const { isList, from, to } = rlpHead(encoded, 0)
  if (isList || to !== encoded.length) throw new RlpError(`${what}: bytes expected`)
  return encoded.subarray(from, to)
}

/** Returns a scalar of at most `maxBytes` without leading zeros; throws RlpError otherwise. */
export function rlpBigint(item: RlpItem | undefined, what: string, maxBytes = 32): bigint {
  const bytes = rlpBytes(item, what)
  if (bytes.length > maxBytes) throw new RlpError(`${what}: more than ${maxBytes} bytes`)
  if (bytes[0] === 0) throw new RlpError(`${what}: leading zero`)
  return bigintFromBytes(bytes)
}

/** Returns a scalar below 2^53; throws RlpError otherwise. */
export function rlpNumber(item: RlpItem | undefined, what: string): number {
  const value = rlpBigint(item, what, 8)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RlpError(`${what}: ${value} is not a safe integer`)
  return Number(value)
}

const maxSmall = 0xffff_ffff_ffff

/** Encodes a number or bigint as an RLP scalar. */
export function rlpScalar(value: bigint | number): Uint8Array {
  if (value === 0 || value === 0n) return emptyBytes
  return value <= maxSmall ? smallScalar(Number(value)) : scalarBytes(BigInt(value))
}

/** Encodes a scalar of at most 6 bytes without converting it to text. */
function smallScalar(value: number): Uint8Array {
  let length = 1
  for (let limit = 0x100; value >= limit; limit *= 0x100) length++
  const out = new Uint8Array(length)
  let rest = value
  for (let at = length - 1; at >= 0; at--) {
    out[at] = rest
    rest = Math.floor(rest / 0x100)
  }
  return out
}

/**
 * Splits the content of an encoded list into its items, each with its head; their own items are not read. Costs memory per item, hence the bound.
 * @throws RlpError when it is no list, has more items than `maxItems`, or has bytes after it
 */
export function splitRlpList(bytes: Uint8Array, maxItems: number, what: string): readonly Uint8Array[] {
  const { isList, from, to } = rlpHead(bytes, 0)
  if (!isList || to !== bytes.length) throw new RlpError(`${what}: list expected`)
  const items: Uint8Array[] = []
  for (let at = from; at < to; ) {
    const item = rlpHead(bytes, at)
    if (item.to > to) throw new RlpError(`${what}: an item exceeds its list`)
    if (items.length === maxItems) throw new RlpError(`${what}: more than ${maxItems} items`)
    items.push(bytes.subarray(at, item.to))
    at = item.to
  }
  return items
}
