// Drafts: subtrees whose top node has no final place yet. A leaf or an extension may still merge with its parent, and is written once the parent
// is known. A branch never moves: it is written already, and its draft holds only its reference.
import { hashed, newNode, nodeHash, nodeRlp, take } from './arena'
import { branchSize, refsBytes, setRef, shortSize, writeBranch, writeShort } from './node'
import { emit } from './output'
import { nibble, parting } from './paths'

/**
 * A draft: u32 whether it is a value (else a child), path from the root, number of its nibbles, address and size of the value or child reference.
 * A child whose path ends at the draft's depth is a branch; one with a longer path is an extension.
 */
export const draftBytes: u32 = 20

export function setDraft(draft: usize, isValue: bool, path: usize, end: u32, at: usize, size: u32): void {
  store<u32>(draft, u32(isValue))
  store<u32>(draft, u32(path), 4)
  store<u32>(draft, end, 8)
  store<u32>(draft, u32(at), 12)
  store<u32>(draft, size, 16)
}
// @ts-ignore: decorator
@inline
export function draftIsValue(draft: usize): bool {
  return load<u32>(draft) != 0
}
// @ts-ignore: decorator
@inline
export function draftPath(draft: usize): usize {
  return load<u32>(draft, 4)
}
// @ts-ignore: decorator
@inline
export function draftEnd(draft: usize): u32 {
  return load<u32>(draft, 8)
}
// @ts-ignore: decorator
@inline
export function draftAt(draft: usize): usize {
  return load<u32>(draft, 12)
}
// @ts-ignore: decorator
@inline
export function draftSize(draft: usize): u32 {
  return load<u32>(draft, 16)
}
// @ts-ignore: decorator
@inline
export function isBranchAt(draft: usize, depth: u32): bool {
  return !draftIsValue(draft) && draftEnd(draft) == depth
}

/** Reference of the node placed last. */
export let placedAt: usize = 0
export let placedSize: u32 = 0

// @ts-ignore: decorator
@inline
function isEmbedded(size: u32, depth: u32): bool {
  return size < 32 && depth > 0
}

function begin(size: u32, depth: u32): usize {
  return isEmbedded(size, depth) ? take(size) : newNode(size) + nodeRlp
}

/** Ends a node at its final place: the root is always referenced by hash. @param hadNode whether a node was stored there before */
function end(rlp: usize, size: u32, path: usize, depth: u32, hadNode: bool): void {
  if (isEmbedded(size, depth)) {
    if (hadNode) emit(path, depth, 0)
    placedAt = rlp
    placedSize = size
    return
  }
  const node = hashed(rlp - nodeRlp)
  emit(path, depth, node)
  placedAt = node + nodeHash
  placedSize = 32
}

/** Puts a draft at its final place. */
export function placeDraft(draft: usize, path: usize, depth: u32, hadNode: bool): void {
  const at = draftAt(draft)
  const size = draftSize(draft)
  if (isBranchAt(draft, depth)) {
    placedAt = at
    placedSize = size
    return
  }
  const isLeaf = draftIsValue(draft)
  const own = draftPath(draft)
  const to = draftEnd(draft)
  const total = shortSize(own, depth, to, isLeaf, at, size)
  const rlp = begin(total, depth)
  writeShort(rlp, total, depth, to, isLeaf, at, size)
  end(rlp, total, path, depth, hadNode)
}

/** Puts a branch at its final place. */
export function placeBranch(refs: usize, path: usize, depth: u32, hadNode: bool): void {
  const size = branchSize(refs)
  const rlp = begin(size, depth)
  writeBranch(rlp, refs)
  end(rlp, size, path, depth, hadNode)
}

/** Memory for what a level of the recursion keeps: reserved for the deepest trie, and given back in reverse order. */
let stackTop: usize = 0

/** @param bytes for all levels */
export function beginStack(bytes: u32): void {
  stackTop = take(bytes)
}
// @ts-ignore: decorator
@inline
export function push(bytes: u32): usize {
  const at = stackTop
  stackTop += bytes
  return at
}
// @ts-ignore: decorator
@inline
export function pop(bytes: u32): void {
  stackTop -= bytes
}

// @ts-ignore: decorator
@inline
function entryAt(entries: usize, i: u32): usize {
  return entries + i * draftBytes
}

/**
 * Builds a subtree of drafts from scratch.
 * @param entries ascending by path, none the prefix of another; the range [from, to) shares its first `depth` nibbles
 * @param hadNode whether a node was stored at the top's path before; no node was stored below it
 * @param out receives the draft
 */
export function draftOf(entries: usize, from: u32, to: u32, depth: u32, hadNode: bool, out: usize): void {
  const only = entryAt(entries, from)
  if (to - from == 1) {
    memory.copy(out, only, draftBytes)
    return
  }
  const path = draftPath(only)
  const final = entryAt(entries, to - 1)
  const at = parting(path, draftPath(final), depth, min(draftEnd(only), draftEnd(final)))
  const refs = push(refsBytes)
  memory.fill(refs, 0, refsBytes)
  for (let start = from; start < to; ) {
    const own = draftPath(entryAt(entries, start))
    const value = nibble(own, at)
    let next = start + 1
    while (next < to && nibble(draftPath(entryAt(entries, next)), at) == value) next++
    draftOf(entries, start, next, at + 1, false, out)
    placeDraft(out, own, at + 1, false)
    setRef(refs, value, placedAt, placedSize)
    start = next
  }
  placeBranch(refs, path, at, hadNode && at == depth)
  pop(refsBytes)
  setDraft(out, false, path, at, placedAt, placedSize)
}
