// Nodes as RLP: parsed in place, and written. @see yellow paper, appendix D
import { prefixBytes, prefixNibbles, writePrefix } from './paths'
import { headFrom, headIsList, headTo, readHead, stringSize, withHead, writeHead, writeString } from './rlp'
import { take } from './arena'

export const badKind: u32 = 0
export const leafKind: u32 = 1
export const extensionKind: u32 = 2
export const branchKind: u32 = 3

/** References of a branch's 16 children: address and size. Size 0: no child; 32: a hash; less: an embedded node. */
export const refBytes: u32 = 8
export const refsBytes: u32 = 16 * refBytes

// @ts-ignore: decorator
@inline
export function setRef(refs: usize, i: u32, at: usize, size: u32): void {
  store<u32>(refs + i * refBytes, u32(at))
  store<u32>(refs + i * refBytes, size, 4)
}
// @ts-ignore: decorator
@inline
export function refAddress(refs: usize, i: u32): usize {
  return load<u32>(refs + i * refBytes)
}
// @ts-ignore: decorator
@inline
export function refSize(refs: usize, i: u32): u32 {
  return load<u32>(refs + i * refBytes, 4)
}

/** Of the leaf or extension that `parse` has read: its hex prefix with the number of nibbles, and its value or child reference. */
export let prefixAt: usize = 0
export let prefixCount: u32 = 0
export let itemAt: usize = 0
export let itemSize: u32 = 0

/** Returns the end of an item of a node, without checking it in full; 0: its length is wrong. */
// @ts-ignore: decorator
@inline
function itemEnd(at: usize, end: usize): usize {
  const first = u32(load<u8>(at))
  if (first <= 0x80) return at + 1
  if (first < 0xb8) return at + 1 + (first - 0x80)
  return readHead(at, end) ? headTo : 0
}

// @ts-ignore: decorator
@inline
function isRef(at: usize, end: usize): bool {
  const first = u32(load<u8>(at))
  return first == 0x80 || first == 0xa0 || (first >= 0xc0 && end - at < 32)
}

/** Parses a node and returns its kind. @param refs receives the references of a branch */
export function parse(rlp: usize, size: u32, refs: usize): u32 {
  const end = rlp + size
  if (!readHead(rlp, end) || !headIsList || headTo != end) return badKind
  const first = headFrom
  if (first == end) return badKind
  const second = itemEnd(first, end)
  if (second == 0 || second >= end) return badKind
  const third = itemEnd(second, end)
  if (third == 0 || third > end) return badKind
  return third == end ? parseShort(first, second, end) : parseBranch(first, end, refs)
}

function parseBranch(at: usize, end: usize, refs: usize): u32 {
  for (let i: u32 = 0; i < 16; i++) {
    if (at >= end) return badKind
    const next = itemEnd(at, end)
    if (next == 0 || next > end || !isRef(at, next)) return badKind
    const byte = u32(load<u8>(at))
    if (byte == 0x80) setRef(refs, i, 0, 0)
    else if (byte == 0xa0) setRef(refs, i, at + 1, 32)
    else setRef(refs, i, at, u32(next - at))
    at = next
  }
  return at + 1 == end && load<u8>(at) == 0x80 ? branchKind : badKind
}

function parseShort(first: usize, second: usize, end: usize): u32 {
  if (!readHead(first, end) || headIsList || headTo != second) return badKind
  prefixAt = headFrom
  const count = prefixNibbles(headFrom, u32(headTo - headFrom))
  if (count < 0 || !readHead(second, end) || headTo != end) return badKind
  prefixCount = u32(count)
  itemAt = headFrom
  itemSize = u32(headTo - headFrom)
  if ((load<u8>(prefixAt) & 0x20) != 0) return headIsList || itemSize == 0 ? badKind : leafKind
  if (!isRef(second, end) || load<u8>(second) == 0x80 || prefixCount == 0) return badKind
  if (load<u8>(second) != 0xa0) {
    itemAt = second
    itemSize = u32(end - second)
  }
  return extensionKind
}

/** Content of a leaf or extension, between `shortSize` and `writeShort`. */
let shortPrefix: usize = 0

/** Returns the size of a leaf or extension. @param at, size its value or child reference */
export function shortSize(path: usize, from: u32, end: u32, isLeaf: bool, at: usize, size: u32): u32 {
  const bytes = prefixBytes(end - from)
  shortPrefix = take(bytes)
  writePrefix(shortPrefix, path, from, end, isLeaf)
  const item = isLeaf ? stringSize(at, size) : size == 32 ? 33 : size
  return withHead(stringSize(shortPrefix, bytes) + item)
}

/** Writes the leaf or extension that `shortSize` has measured. */
export function writeShort(to: usize, total: u32, from: u32, end: u32, isLeaf: bool, at: usize, size: u32): void {
  const bytes = prefixBytes(end - from)
  const item = isLeaf ? stringSize(at, size) : size == 32 ? 33 : size
  to = writeHead(to, stringSize(shortPrefix, bytes) + item, 0xc0)
  to = writeString(to, shortPrefix, bytes)
  if (isLeaf || size == 32) writeString(to, at, size)
  else memory.copy(to, at, size)
}

function branchContent(refs: usize): u32 {
  let size: u32 = 1
  for (let i: u32 = 0; i < 16; i++) {
    const child = refSize(refs, i)
    size += child == 0 ? 1 : child == 32 ? 33 : child
  }
  return size
}

export function branchSize(refs: usize): u32 {
  return withHead(branchContent(refs))
}

export function writeBranch(to: usize, refs: usize): void {
  to = writeHead(to, branchContent(refs), 0xc0)
  for (let i: u32 = 0; i < 16; i++) {
    const size = refSize(refs, i)
    if (size == 0 || size == 32) store<u8>(to++, size == 0 ? 0x80 : 0xa0)
    if (size == 0) continue
    memory.copy(to, refAddress(refs, i), size)
    to += size
  }
  store<u8>(to, 0x80)
}
