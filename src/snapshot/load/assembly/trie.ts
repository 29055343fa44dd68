// A trie built from its entries in key order: each node is encoded and hashed once. Keys have 32 bytes. @see yellow paper, appendices C and D
//
// Rows are the branches and extensions that are not embedded in their parent, children before parents, which is the key order of a store that ends each
// path with 0x10. Leaves are not among them, because the entries contain them.
import { keccak256 } from 'evm/assembly/keccak'
import { nibble, prefixBytes, writePrefix } from 'trie/assembly/paths'
import { stringSize, writeHead, writeString } from 'trie/assembly/rlp'
import { endRow, nextKey } from './output'

/*
 * A trie: u32 whether it has an entry, u32 size of the last entry's value (0: its part is sealed), u32 nibbles of a sealed part, u32 number of open branches,
 * u32 table of its rows (0: none), u32 most nibbles of the path of a row, u32 address of the key of its account (0: none), key (32) of the last entry, its value,
 * branches from the root down.
 */
export const keyAt: usize = 32
export const valueAt: usize = 64
export const branchesAt: usize = 192
/** An open branch on the last entry's path, which may still get children: u32 nibbles of its own path, then for each child its size and its RLP as an item. */
export const branchBytes: usize = 8 + 16 * 40
const childrenAt: usize = 8
export const childBytes: usize = 40
const nibbles: u32 = 64
const pathEnd: u8 = 0x10

/** A reference as a child: size, RLP item. */
const ref: usize = memory.data(40, 8)
const leafRlp: usize = memory.data(256, 8)

// @ts-ignore: decorator
@inline
export function hasEntry(trie: usize): bool {
  return load<u32>(trie) != 0
}
// @ts-ignore: decorator
@inline
export function keyOf(trie: usize): usize {
  return trie + keyAt
}
// @ts-ignore: decorator
@inline
export function valueOf(trie: usize): usize {
  return trie + valueAt
}
// @ts-ignore: decorator
@inline
export function setValueSize(trie: usize, size: u32): void {
  store<u32>(trie, size, 4)
}
// @ts-ignore: decorator
@inline
function openCount(trie: usize): u32 {
  return load<u32>(trie, 12)
}
// @ts-ignore: decorator
@inline
function setOpenCount(trie: usize, count: u32): void {
  store<u32>(trie, count, 12)
}

export function setRows(trie: usize, table: u32, depth: u32, owner: usize): void {
  store<u32>(trie, table, 16)
  store<u32>(trie, depth, 20)
  store<u32>(trie, u32(owner), 24)
}

/** Returns the number of nibbles that two keys have in common. */
export function commonNibbles(a: usize, b: usize): u32 {
  for (let at: usize = 0; at < 32; at += 8) {
    const difference = load<u64>(a + at) ^ load<u64>(b + at)
    if (difference != 0) return u32(at) * 2 + (u32(clz<u64>(bswap<u64>(difference))) >> 2)
  }
  return nibbles
}

/** Returns the deepest open branch; 0: none. */
// @ts-ignore: decorator
@inline
function top(trie: usize): usize {
  const count = openCount(trie)
  return count == 0 ? 0 : trie + branchesAt + usize(count - 1) * branchBytes
}

// @ts-ignore: decorator
@inline
function depthOf(branch: usize): i32 {
  return branch == 0 ? -1 : load<i32>(branch)
}

/** Returns the deepest open branch, after opening one at `depth` if all open branches are above that depth. */
function branchFrom(trie: usize, depth: i32): usize {
  const last = top(trie)
  if (depthOf(last) >= depth) return last
  const count = openCount(trie)
  const branch = trie + branchesAt + usize(count) * branchBytes
  store<i32>(branch, depth)
  for (let child = branch + childrenAt, end = branch + branchBytes; child < end; child += childBytes) store<u8>(child, 0)
  setOpenCount(trie, count + 1)
  return branch
}

/** Makes `ref` the child of a branch. */
// @ts-ignore: decorator
@inline
function setChild(branch: usize, index: u32): void {
  const child = branch + childrenAt + usize(index) * childBytes
  memory.copy(child, ref, 40)
}

/** Sets `ref` to a node: its hash, or the node itself when it is embedded. */
function refer(node: usize, size: u32, isEmbedded: bool): void {
  if (isEmbedded) {
    store<u8>(ref, size)
    memory.copy(ref + 1, node, size)
  } else {
    store<u8>(ref, 33)
    store<u8>(ref, 0xa0, 1)
    keccak256(node, size, ref + 2)
  }
}

/** Writes the hex prefix of the nibbles from `from` to the end of a key. */
function writeLeafPrefix(to: usize, key: usize, from: u32): void {
  const at = from >> 1
  store<u8>(to, (from & 1) == 0 ? 0x20 : 0x30 | (load<u8>(key + at) & 15))
  const whole = (from + 1) >> 1
  memory.copy(to + 1, key + whole, 32 - whole)
}

/** Encodes the leaf of the last entry below `from` nibbles, and returns its size. */
function encodeLeaf(trie: usize, from: u32): u32 {
  const size = load<u32>(trie, 4)
  const value = valueOf(trie)
  const prefixSize = prefixBytes(nibbles - from)
  // a prefix of one byte is below 0x80
  const content = (prefixSize == 1 ? 1 : prefixSize + 1) + stringSize(value, size)
  let to = writeHead(leafRlp, content, 0xc0)
  if (prefixSize > 1) store<u8>(to++, 0x80 + prefixSize)
  writeLeafPrefix(to, keyOf(trie), from)
  to += prefixSize
  return u32(writeString(to, value, size) - leafRlp)
}

/** Places the leaf of the last entry in a branch, unless its part is sealed. */
function placeLeaf(trie: usize, branch: usize): void {
  if (load<u32>(trie, 4) == 0) return
  const depth = u32(depthOf(branch))
  const size = encodeLeaf(trie, depth + 1)
  refer(leafRlp, size, size < 32)
  setChild(branch, nibble(keyOf(trie), depth))
}

/** Writes the key of the row of the node at the first `depth` nibbles of the last path, and returns its size. */
function writeNodeKey(trie: usize, depth: u32): u32 {
  const start = nextKey()
  const owner = usize(load<u32>(trie, 24))
  let to = start
  if (owner != 0) {
    memory.copy(to, owner, 32)
    to += 32
  }
  const key = keyOf(trie)
  for (let i: u32 = 0; i < depth; i++) store<u8>(to++, nibble(key, i))
  store<u8>(to++, pathEnd)
  return u32(to - start)
}

/** Sets `ref` to the node that was written after the key of its row, and adds the row unless the node is embedded. */
function emit(trie: usize, depth: u32, keySize: u32, size: u32): void {
  const isEmbedded = size < 32 && depth > 0
  refer(nextKey() + keySize, size, isEmbedded)
  const table = load<u32>(trie, 16)
  if (!isEmbedded && table != 0 && depth <= load<u32>(trie, 20)) endRow(table, keySize, size)
}

/** Sets `ref` to a finished branch and the extension above it, as a child of the parent; of the root with parent depth -1. */
function close(trie: usize, branch: usize, parentDepth: i32): void {
  const depth = u32(depthOf(branch))
  let content: u32 = 1
  const children = branch + childrenAt
  const end = branch + branchBytes
  for (let child = children; child < end; child += childBytes) content += max(u32(load<u8>(child)), 1)
  let keySize = writeNodeKey(trie, depth)
  let start = nextKey() + keySize
  let to = writeHead(start, content, 0xc0)
  for (let child = children; child < end; child += childBytes) {
    const size = u32(load<u8>(child))
    if (size == 33) {
      memory.copy(to, child + 1, 33)
      to += 33
    } else if (size == 0) {
      store<u8>(to++, 0x80)
    } else {
      memory.copy(to, child + 1, size)
      to += size
    }
  }
  store<u8>(to++, 0x80)
  emit(trie, depth, keySize, u32(to - start))
  const from = u32(parentDepth + 1)
  if (depth == from) return
  const prefixSize = prefixBytes(depth - from)
  const item = u32(load<u8>(ref))
  keySize = writeNodeKey(trie, from)
  start = nextKey() + keySize
  to = writeHead(start, (prefixSize == 1 ? 1 : prefixSize + 1) + item, 0xc0)
  if (prefixSize > 1) store<u8>(to++, 0x80 + prefixSize)
  writePrefix(to, keyOf(trie), from, depth, false)
  memory.copy(to + prefixSize, ref + 1, item)
  emit(trie, from, keySize, u32(to + prefixSize + item - start))
}

/** Places the last leaf and closes all branches deeper than `depth`, where the next entry parts from the path. A branch is then open there. */
function closeTo(trie: usize, depth: i32): void {
  placeLeaf(trie, branchFrom(trie, depth))
  for (let branch = top(trie); depthOf(branch) > depth; branch = top(trie)) {
    setOpenCount(trie, openCount(trie) - 1)
    close(trie, branch, max(depth, depthOf(top(trie))))
    const parent = branchFrom(trie, depth)
    setChild(parent, nibble(keyOf(trie), u32(depthOf(parent))))
  }
}

/**
 * Begins an entry, whose value the caller writes to `valueOf` next.
 * @returns false when the key is not above all earlier keys, or is in a part that is sealed
 */
export function add(trie: usize, key: usize): bool {
  const last = keyOf(trie)
  if (hasEntry(trie)) {
    const parting = commonNibbles(last, key)
    if (parting == nibbles || nibble(key, parting) < nibble(last, parting)) return false
    if (load<u32>(trie, 4) == 0 && parting >= load<u32>(trie, 8)) return false
    closeTo(trie, i32(parting))
  }
  memory.copy(last, key, 32)
  store<u32>(trie, 1)
  return true
}

/** Finishes the trie and writes its root, which has an entry. The trie is empty then. */
export function end(trie: usize, root: usize): void {
  store<u32>(trie, 0)
  let branch = top(trie)
  if (branch == 0) {
    keccak256(leafRlp, encodeLeaf(trie, 0), root)
    return
  }
  placeLeaf(trie, branch)
  for (;;) {
    setOpenCount(trie, openCount(trie) - 1)
    const parent = top(trie)
    close(trie, branch, depthOf(parent))
    if (parent == 0) break
    setChild(parent, nibble(keyOf(trie), u32(depthOf(parent))))
    branch = parent
  }
  memory.copy(root, ref + 2, 32)
}

/**
 * Finishes the part of the trie whose keys begin with the first nibbles of the last key. No later key may be in it.
 * @param depth 1 to 64. The node above these nibbles must be a branch of the whole trie: otherwise the result, and every later one, is wrong
 * @returns address of the reference to the part in that branch, as a child: size, RLP item
 */
export function seal(trie: usize, depth: u32): usize {
  closeTo(trie, i32(depth) - 1)
  store<u32>(trie, 0, 4)
  store<u32>(trie, depth, 8)
  return top(trie) + childrenAt + usize(nibble(keyOf(trie), depth - 1)) * childBytes
}
