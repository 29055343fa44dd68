// Changes of nodes, collected per trie in lists and packed at the end of a call.
import { keep, nodeHash, nodeRlp, take } from './arena'
import { writeNibbles } from './paths'

/** A change: u32 next change, path, number of its nibbles, node (0: removed). */
const changeBytes: u32 = 16
/** The changes of a storage trie: u32 next list, owner, first change, number of changes. */
const listBytes: u32 = 16
/** The storage root of an account: u32 next, key, root. */
const rootBytes: u32 = 12

/** The list of the trie that is being updated. */
export let first: usize = 0
export let last: usize = 0
export let count: u32 = 0

let firstList: usize = 0
let lastList: usize = 0
let lists: u32 = 0
let firstRoot: usize = 0
let lastRoot: usize = 0
let roots: u32 = 0

export function beginOutput(): void {
  restore(0, 0, 0)
  firstList = 0
  lastList = 0
  lists = 0
  firstRoot = 0
  lastRoot = 0
  roots = 0
}

/** Makes another list the one that receives changes. */
export function restore(from: usize, to: usize, changes: u32): void {
  first = from
  last = to
  count = changes
}

/** Adds a change of the node at the first `depth` nibbles of a path. @param node 0: it is removed */
export function emit(path: usize, depth: u32, node: usize): void {
  const change = take(changeBytes)
  store<u32>(change, 0)
  store<u32>(change, u32(path), 4)
  store<u32>(change, depth, 8)
  store<u32>(change, u32(node), 12)
  if (last == 0) first = change
  else store<u32>(last, u32(change))
  last = change
  count++
}

// @ts-ignore: decorator
@inline
export function nextChange(change: usize): usize {
  return load<u32>(change)
}
// @ts-ignore: decorator
@inline
export function changePath(change: usize): usize {
  return load<u32>(change, 4)
}
// @ts-ignore: decorator
@inline
export function changeDepth(change: usize): u32 {
  return load<u32>(change, 8)
}

/** Keeps the present list as that of a storage trie. */
export function endStorage(owner: usize): void {
  if (count == 0) return
  const list = take(listBytes)
  store<u32>(list, 0)
  store<u32>(list, u32(owner), 4)
  store<u32>(list, u32(first), 8)
  store<u32>(list, count, 12)
  if (lastList == 0) firstList = list
  else store<u32>(lastList, u32(list))
  lastList = list
  lists++
}

/** Adds the storage root of an account. */
export function emitRoot(key: usize, root: usize): void {
  const item = take(rootBytes)
  store<u32>(item, 0)
  store<u32>(item, u32(key), 4)
  store<u32>(item, u32(root), 8)
  if (lastRoot == 0) firstRoot = item
  else store<u32>(lastRoot, u32(item))
  lastRoot = item
  roots++
}

function sizeOf(change: usize): u32 {
  let size: u32 = 0
  for (; change != 0; change = load<u32>(change)) {
    const node = usize(load<u32>(change, 12))
    size += 5 + load<u32>(change, 8) + (node == 0 ? 0 : 32 + load<u32>(node))
  }
  return size
}

/** Where `writeChanges` has written the last change. */
let lastAt: usize = 0

function writeChanges(to: usize, change: usize): usize {
  for (; change != 0; change = load<u32>(change)) {
    lastAt = to
    const depth = load<u32>(change, 8)
    const node = usize(load<u32>(change, 12))
    store<u8>(to, depth)
    writeNibbles(to + 1, load<u32>(change, 4), depth)
    to += 1 + depth
    const size = node == 0 ? 0 : load<u32>(node)
    store<u32>(to, size)
    to += 4
    if (size == 0) continue
    memory.copy(to, node + nodeHash, 32)
    memory.copy(to + 32, node + nodeRlp, size)
    to += 32 + size
  }
  return to
}

/** Size of the header of packed changes. */
const headerBytes: u32 = 20

/** Size of the packed changes. */
export let packedBytes: u32 = 0

/** Packs all changes, in the format of `src/trie/trieDiff.ts`, and returns their address. */
export function pack(): usize {
  let size: u32 = headerBytes + lists * 36 + sizeOf(first)
  for (let list = firstList; list != 0; list = load<u32>(list)) size += sizeOf(load<u32>(list, 8))
  packedBytes = size
  const packed = take(size)
  store<u32>(packed, lists)
  store<u32>(packed, count, 4)
  store<u32>(packed, size, 8)
  let to = packed + headerBytes
  for (let list = firstList; list != 0; list = load<u32>(list), to += 36) {
    memory.copy(to, load<u32>(list, 4), 32)
    store<u32>(to, load<u32>(list, 12), 32)
  }
  for (let list = firstList; list != 0; list = load<u32>(list)) to = writeChanges(to, load<u32>(list, 8))
  store<u32>(packed, u32(to - packed), 12)
  lastAt = to
  writeChanges(to, first)
  store<u32>(packed, u32(lastAt - packed), 16)
  return packed
}

/** Copies the nodes of packed changes to the cache. */
export function keepPacked(packed: usize): void {
  const end = packed + load<u32>(packed, 8)
  for (let at = packed + headerBytes + load<u32>(packed) * 36; at < end; ) {
    at += 1 + load<u8>(at)
    const size = load<u32>(at)
    at += 4
    if (size == 0) continue
    keep(at, at + 32, size)
    at += 32 + size
  }
}

/** Number of storage roots. */
export function rootCount(): u32 {
  return roots
}

/** Packs the storage roots, each after its account's key, and returns their address. */
export function packRoots(): usize {
  const packed = take(roots * 64)
  let to = packed
  for (let item = firstRoot; item != 0; item = load<u32>(item), to += 64) {
    memory.copy(to, load<u32>(item, 4), 32)
    memory.copy(to + 32, load<u32>(item, 8), 32)
  }
  return packed
}
