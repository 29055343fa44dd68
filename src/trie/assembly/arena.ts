// Memory of one instance: a cache of nodes by hash in two generations, which outlives calls, then working memory, which the next call reuses.
import { keccak256 } from 'evm/assembly/keccak'

/** A node in memory: u32 size of its RLP, its hash, its RLP. Nodes never move while a call runs. */
export const nodeHash: usize = 4
export const nodeRlp: usize = 36

/** A table of a generation: open addressing by hash, u64 per slot: the node's address, and four more bytes of its hash above. */
const slotBytes: u32 = 8
/** Bytes of a generation per slot of its table. */
const bytesPerSlot: u32 = 128
/** Bound on the slots that one search reads: nodes whose hashes were chosen to collide are not found, and are read from the source. */
const maxProbes: u32 = 64

/** A generation is at least this large, and grows by this factor to at most `largest`; its place is left unused when it has grown. */
const smallest: u32 = 131_072
const growth: u32 = 4
let largest: u32 = 0

let young: usize = 0
let youngSlots: u32 = 0
let youngTop: usize = 0
let youngEnd: usize = 0
let youngNodes: u32 = 0
let old: usize = 0
let oldSlots: u32 = 0
let oldEnd: usize = 0
/** Bytes that one call has added to the young generation at most. */
let usedByCall: usize = 0
let topBefore: usize = 0

/** Working memory is above both generations. */
let workBase: usize = 0
let workTop: usize = 0
let workEnd: usize = 0

const digest: usize = memory.data(32)

/** Nodes of this call that were in the cache, and nodes read from the source. */
export let hits: u32 = 0
export let reads: u32 = 0

/** Called once. @param bytes bound on the cache; a small one gives no cache */
export function open(bytes: u32): void {
  workBase = (__heap_base + 15) & ~15
  workEnd = usize(memory.size()) << 16
  // two generations of the largest size, and the places of three smaller ones
  largest = u32((u64(bytes) * 64) / 149) & ~15
  if (largest < smallest) return
  let first = largest
  for (let step = 0; step < 3 && first >= growth * smallest; step++) first = (first / growth) & ~15
  startGeneration(workBase, first)
}

/** Makes a place the empty young generation. */
function startGeneration(base: usize, bytes: u32): void {
  const end = base + bytes
  if (end > workBase) workBase = end
  if (end > workEnd) grow(end)
  young = base
  youngEnd = end
  youngSlots = (<u32>1) << (31 - clz<u32>(bytes / bytesPerSlot))
  youngTop = base + youngSlots * slotBytes
  youngNodes = 0
  usedByCall = 0
  topBefore = youngTop
  memory.fill(base, 0, youngSlots * slotBytes)
}

/** Makes the young generation the old one, when it is nearly full. */
function turnOver(): void {
  usedByCall = max(usedByCall, youngTop - topBefore)
  topBefore = youngTop
  const bytes = youngEnd - young
  const room = max(bytes >>> 3, min(usedByCall, bytes >>> 1))
  if (youngEnd - youngTop >= room && youngNodes < (youngSlots >>> 4) * 11) return
  const free = old
  const freeBytes = u32(oldEnd - old)
  old = young
  oldEnd = youngEnd
  oldSlots = youngSlots
  const next = min(largest, u32(bytes) * growth)
  startGeneration(freeBytes >= next ? free : workBase, next)
}

/** Begins a call: frees working memory. */
export function beginCall(): void {
  if (youngSlots != 0) turnOver()
  workTop = workBase
  hits = 0
  reads = 0
}

function grow(end: usize): void {
  const pages = i32(((u64(end) + 0xffff) >> 16) - (u64(workEnd) >> 16))
  // in steps of 1 MB at least
  if (memory.grow(max(pages, 16)) < 0 && memory.grow(pages) < 0) unreachable()
  workEnd = usize(memory.size()) << 16
}

/** Allocates working memory until the next call. */
export function take(bytes: u32): usize {
  const at = workTop
  const end = (u64(at) + bytes + 7) & ~7
  if (end > 0xffff0000) unreachable()
  workTop = usize(end)
  if (workTop > workEnd) grow(workTop)
  return at
}

/** Returns a mark for `freeTo`. */
// @ts-ignore: decorator
@inline
export function workMark(): usize {
  return workTop
}

/** Frees the working memory allocated since a mark. */
// @ts-ignore: decorator
@inline
export function freeTo(mark: usize): void {
  workTop = mark
}

/** Returns whether a node has a hash. */
export function hasHash(hash: usize, rlp: usize, size: u32): bool {
  keccak256(rlp, size, digest)
  return isSame(digest, hash)
}

/** Returns the bytes of working memory in use. */
export function workBytes(): u32 {
  return u32(workTop - workBase)
}

// @ts-ignore: decorator
@inline
function isSame(a: usize, b: usize): bool {
  return (
    load<u64>(a) == load<u64>(b) &&
    load<u64>(a, 8) == load<u64>(b, 8) &&
    load<u64>(a, 16) == load<u64>(b, 16) &&
    load<u64>(a, 24) == load<u64>(b, 24)
  )
}

function lookUp(table: usize, slots: u32, hash: usize): usize {
  if (slots == 0) return 0
  const mask = slots - 1
  const upper = load<u32>(hash, 4)
  for (let slot = load<u32>(hash), end = slot + maxProbes; slot != end; slot++) {
    const entry = load<u64>(table + (slot & mask) * slotBytes)
    if (entry == 0) return 0
    if (u32(entry >> 32) == upper && isSame(usize(entry) + nodeHash, hash)) return usize(entry)
  }
  return 0
}

function enter(node: usize): void {
  const mask = youngSlots - 1
  const upper = u64(load<u32>(node, nodeHash + 4)) << 32
  for (let slot = load<u32>(node, nodeHash), end = slot + maxProbes; slot != end; slot++) {
    const at = young + (slot & mask) * slotBytes
    if (load<u64>(at) != 0) continue
    store<u64>(at, upper | u64(node))
    youngNodes++
    return
  }
}

// @ts-ignore: decorator
@inline
function isYoung(node: usize): bool {
  return node >= young && node < youngEnd
}

// @ts-ignore: decorator
@inline
function endOfNew(size: u32): usize {
  return (youngTop + nodeRlp + size + 3) & ~3
}

function hasRoom(size: u32): bool {
  return youngSlots != 0 && endOfNew(size) <= youngEnd && youngNodes < (youngSlots >>> 2) * 3
}

/** Allocates a node: in the cache while it has room, else in working memory. The caller writes its RLP and calls `hashed`. */
export function newNode(size: u32): usize {
  const isCached = hasRoom(size)
  const node = isCached ? youngTop : take(u32(nodeRlp) + size)
  if (isCached) youngTop = endOfNew(size)
  store<u32>(node, size)
  return node
}

/** Hashes the node that was allocated last. Returns it, or the same node of the cache. */
export function hashed(node: usize): usize {
  keccak256(node + nodeRlp, load<u32>(node), node + nodeHash)
  if (!isYoung(node)) return node
  const known = lookUp(young, youngSlots, node + nodeHash)
  if (known == 0) {
    enter(node)
    return node
  }
  youngTop = node
  return known
}

/** Copies a node with a known hash to the cache. */
function admitted(hash: usize, rlp: usize, size: u32): usize {
  const node = newNode(size)
  memory.copy(node + nodeHash, hash, 32)
  memory.copy(node + nodeRlp, rlp, size)
  if (isYoung(node)) enter(node)
  return node
}

/** Copies a node with a known hash to the cache, unless it is there or the cache is full. */
export function keep(hash: usize, rlp: usize, size: u32): void {
  if (hasRoom(size) && lookUp(young, youngSlots, hash) == 0) admitted(hash, rlp, size)
}

/** Returns the cached node with a hash; 0: there is none. Copies it to the young generation while that has room. */
export function cached(hash: usize): usize {
  let node = lookUp(young, youngSlots, hash)
  if (node == 0) {
    node = lookUp(old, oldSlots, hash)
    if (node == 0) return 0
    const size = load<u32>(node)
    if (hasRoom(size)) node = admitted(hash, node + nodeRlp, size)
  }
  hits++
  return node
}

/** Copies a node that the source returned to memory without a check of its hash. The cache does not get it. */
export function unchecked(rlp: usize, size: u32): usize {
  reads++
  const node = take(u32(nodeRlp) + size)
  store<u32>(node, size)
  memory.copy(node + nodeRlp, rlp, size)
  return node
}

/** Copies a node that the source returned to memory; 0: its hash is another. */
export function checked(hash: usize, rlp: usize, size: u32): usize {
  reads++
  return hasHash(hash, rlp, size) ? admitted(hash, rlp, size) : 0
}
