// The update of one trie: sorted changes descend together. Each node on their paths is read once and written once its place is final.
import { cached, checked, freeTo, hasHash, nodeRlp, take, unchecked, workMark } from './arena'
import { changes, keyNibbles, keyOf, presumeValue, readValue, valueAt, valueSize } from './changes'
import {
  draftAt,
  draftBytes,
  draftOf,
  draftPath,
  isBranchAt,
  placeBranch,
  placeDraft,
  placedAt,
  placedSize,
  pop,
  push,
  setDraft,
} from './drafts'
import { badNode, failAt, landing, loadAt } from './host'
import {
  badKind,
  branchKind,
  itemAt,
  itemSize,
  leafKind,
  parse,
  prefixAt,
  prefixCount,
  refAddress,
  refSize,
  refsBytes,
  setRef,
  shortSize,
  writeShort,
} from './node'
import { changeDepth, changePath, emit, first, last, nextChange } from './output'
import { compareNibbles, joined, nibble, parting, withNibble } from './paths'

/** Results of a subtree: no change had an effect · it is empty · it has a draft. */
const unchanged: u32 = 0
const empty: u32 = 1
const drafted: u32 = 2

/** In place of the number of the only change below a node. */
const noneAlone: u32 = 0xffffffff

/** Root of the empty trie. */
export const emptyRoot: usize = memory.data<u8>([
  0x56, 0xe8, 0x1f, 0x17, 0x1b, 0xcc, 0x55, 0xa6, 0xff, 0x83, 0x45, 0xe6, 0x92, 0xc0, 0xf8, 0x6e,
  0x5b, 0x48, 0xe0, 0x1b, 0x99, 0x6c, 0xad, 0xc0, 0x01, 0x62, 0x2f, 0xb5, 0xe3, 0x63, 0xb4, 0x21,
])

/** Bytes that a level of the recursion keeps: references and drafts of a branch's children. */
const levelBytes: u32 = refsBytes + 16 * draftBytes
/** Bytes for the deepest account trie with the deepest storage trie below it. `draftOf` takes less per nibble. */
export const stackBytes: u32 = 130 * levelBytes

/** Applies the first `count` changes to the trie with a root and returns the address of the new root. */
export function updateTrie(root: usize, count: u32): usize {
  const isEmpty = memory.compare(root, emptyRoot, 32) == 0
  const draft = take(draftBytes)
  const result = isEmpty ? inserted(0, count, 0, draft) : updated(0, count, 0, root, 32, draft)
  if (result == unchanged) return root
  const path = keyOf(0)
  if (result == empty) {
    if (!isEmpty) emit(path, 0, 0)
    return emptyRoot
  }
  placeDraft(draft, path, 0, !isEmpty)
  return placedAt
}

/** Builds the subtree of changes at a place that was empty. */
function inserted(from: u32, to: u32, depth: u32, out: usize): u32 {
  const entries = take((to - from) * draftBytes)
  const count = addValues(entries, 0, from, to)
  if (count == 0) return unchanged
  draftOf(entries, 0, count, depth, false, out)
  return drafted
}

/** Appends the values of new keys to a list of `count` drafts; returns the new count. */
function addValues(entries: usize, count: u32, from: u32, to: u32): u32 {
  for (let i = from; i < to; i++) {
    readValue(i, 0, 0, 0, 0)
    if (valueSize > 0) addValue(entries, count++, keyOf(i), valueAt, valueSize)
  }
  return count
}

function addValue(entries: usize, i: u32, key: usize, at: usize, size: u32): void {
  setDraft(entries + i * draftBytes, true, key, keyNibbles, at, size)
}

/** Whether nodes of the source are taken as they are, since the caller knows the root. */
let trusts: bool = false

export function setTrust(trust: bool): void {
  trusts = trust
}

/** Takes the node at the landing; 0: its hash is another. */
function loaded(hash: usize, size: u32): usize {
  return trusts ? unchecked(landing, size) : checked(hash, landing, size)
}

/** Address and size of the RLP that `read` returns. */
let rlpAt: usize = 0
let rlpSize: u32 = 0

/**
 * Compares the leaf of a key with its presumed value to a reference, which costs a hash in place of the reads of the leaf.
 * @returns whether the reference is to that leaf, which is at `rlpAt` then
 */
function findLeaf(i: u32, depth: u32, ref: usize): bool {
  const mark = workMark()
  presumeValue(i)
  if (valueSize == 0) return false
  const total = shortSize(keyOf(i), depth, keyNibbles, true, valueAt, valueSize)
  const rlp = take(total)
  writeShort(rlp, total, depth, keyNibbles, true, valueAt, valueSize)
  if (!hasHash(ref, rlp, total)) {
    freeTo(mark)
    return false
  }
  rlpAt = rlp
  rlpSize = total
  return true
}

/**
 * Parses the node that a reference at a path names and returns its kind.
 * @param key a key below it; 0: none is known
 * @param only the only change below it, or `noneAlone`
 */
function read(path: usize, depth: u32, ref: usize, size: u32, key: usize, only: u32, refs: usize): u32 {
  rlpAt = ref
  rlpSize = size
  if (size == 32) {
    let node = cached(ref)
    if (node != 0 || only == noneAlone || !findLeaf(only, depth, ref)) {
      if (node == 0) node = loaded(ref, loadAt(path, depth, ref, key))
      if (node == 0) failAt(badNode, path, depth, ref, size)
      rlpAt = node + nodeRlp
      rlpSize = load<u32>(node)
    }
  }
  const kind = parse(rlpAt, rlpSize, refs)
  const fits = kind == leafKind ? depth + prefixCount == keyNibbles : depth + (kind == branchKind ? 0 : prefixCount) < keyNibbles
  if (kind == badKind || !fits) failAt(badNode, path, depth, ref, size)
  return kind
}

function updated(from: u32, to: u32, depth: u32, ref: usize, size: u32, out: usize): u32 {
  const refs = push(refsBytes)
  const kind = read(keyOf(from), depth, ref, size, keyOf(from), to - from == 1 ? from : noneAlone, refs)
  const hadNode = size == 32
  let result: u32
  if (kind == leafKind) result = updatedLeaf(from, to, depth, ref, size, out)
  else if (kind == branchKind) result = updatedBranch(from, to, depth, refs, hadNode, out)
  else result = updatedExtension(from, to, depth, hadNode, out)
  pop(refsBytes)
  return result
}

function updatedLeaf(from: u32, to: u32, depth: u32, leaf: usize, leafSize: u32, out: usize): u32 {
  const before = itemAt
  const beforeSize = itemSize
  const path = joined(keyOf(from), depth, prefixAt, prefixCount)
  const entries = take((to - from + 1) * draftBytes)
  let count: u32 = 0
  let isPending = true
  for (let i = from; i < to; i++) {
    const order = isPending ? compareNibbles(path, keyOf(i), depth, keyNibbles) : 1
    if (order < 0) addValue(entries, count++, path, before, beforeSize)
    if (order <= 0) isPending = false
    readValue(i, order == 0 ? before : 0, order == 0 ? beforeSize : 0, leaf, leafSize)
    if (order == 0 && valueSize == beforeSize && memory.compare(valueAt, before, beforeSize) == 0) {
      // the key of the leaf, with the same value: its path stands for it, so that an unchanged leaf is recognised below
      addValue(entries, count++, path, before, beforeSize)
    } else if (valueSize > 0) addValue(entries, count++, keyOf(i), valueAt, valueSize)
  }
  if (isPending) addValue(entries, count++, path, before, beforeSize)
  if (count == 0) return empty
  if (count == 1 && draftAt(entries) == before) return unchanged
  draftOf(entries, 0, count, depth, leafSize == 32, out)
  return drafted
}

/** Updates an extension. Changes under its full path go to the child; other values split the extension. */
function updatedExtension(from: u32, to: u32, depth: u32, hadNode: bool, out: usize): u32 {
  const child = itemAt
  const childSize = itemSize
  const end = depth + prefixCount
  const path = joined(keyOf(from), depth, prefixAt, prefixCount)
  let low = from
  while (low < to && compareNibbles(keyOf(low), path, depth, end) < 0) low++
  let high = low
  while (high < to && parting(keyOf(high), path, depth, end) == end) high++
  const entries = take((to - from + 1) * draftBytes)
  let count = addValues(entries, 0, from, low)
  const kept = entries + count * draftBytes
  const before = count
  let below = unchanged
  if (low < high) below = updated(low, high, end, child, childSize, kept)
  if (below == unchanged) setDraft(kept, false, path, end, child, childSize)
  if (below != empty) count++
  const isGone = below != unchanged && childSize == 32 && (below == empty || !isBranchAt(kept, end))
  const keeps = count - before
  count = addValues(entries, count, high, to)
  const isAlone = count == keeps
  if (isAlone && below == unchanged) return unchanged
  const mark = last
  let result = drafted
  if (!isAlone) draftOf(entries, 0, count, depth, hadNode, out)
  else if (keeps == 1) memory.copy(out, kept, draftBytes)
  else result = empty
  if (isGone && !isEmitted(mark, path, end)) emit(path, end, 0)
  return result
}

/** Returns whether the changes after `mark` have one at the first `depth` nibbles of a path. */
function isEmitted(mark: usize, path: usize, depth: u32): bool {
  for (let at = mark == 0 ? first : nextChange(mark); at != 0; at = nextChange(at)) {
    if (changeDepth(at) == depth && parting(changePath(at), path, 0, depth) == depth) return true
  }
  return false
}

function updatedBranch(from: u32, to: u32, depth: u32, refs: usize, hadNode: bool, out: usize): u32 {
  const drafts = push(16 * draftBytes)
  const result = changedBranch(from, to, depth, refs, drafts, hadNode, out)
  pop(16 * draftBytes)
  return result
}

function changedBranch(from: u32, to: u32, depth: u32, refs: usize, drafts: usize, hadNode: bool, out: usize): u32 {
  let left: u32 = 0
  for (let i: u32 = 0; i < 16; i++) if (refSize(refs, i) > 0) left |= 1 << i
  let changed: u32 = 0
  const below = depth + 1
  for (let start = from; start < to; ) {
    const value = nibble(keyOf(start), depth)
    let next = start + 1
    while (next < to && nibble(keyOf(next), depth) == value) next++
    const size = refSize(refs, value)
    const draft = drafts + value * draftBytes
    const result = size == 0 ? inserted(start, next, below, draft) : updated(start, next, below, refAddress(refs, value), size, draft)
    if (result == empty) {
      if (size == 32) emit(keyOf(start), below, 0)
      left &= ~(1 << value)
      changed |= 1 << value
      setDraft(draft, false, 0, 0, 0, 0)
    } else if (result == drafted) {
      left |= 1 << value
      changed |= 1 << value
    }
    start = next
  }
  if (changed == 0) return unchanged
  if (left == 0) return empty
  const only = ctz<u32>(left)
  if (left == 1 << only) {
    const draft: usize = (changed & left) == 0 ? 0 : drafts + only * draftBytes
    collapse(keyOf(from), depth, only, refAddress(refs, only), refSize(refs, only), draft, out)
    return drafted
  }
  for (; changed != 0; changed &= changed - 1) place(refs, drafts, ctz<u32>(changed), below)
  placeBranch(refs, keyOf(from), depth, hadNode)
  setDraft(out, false, keyOf(from), depth, placedAt, placedSize)
  return drafted
}

/** Places the draft of a child and sets its reference. */
function place(refs: usize, drafts: usize, i: u32, depth: u32): void {
  const draft = drafts + i * draftBytes
  if (draftPath(draft) == 0) {
    setRef(refs, i, 0, 0)
    return
  }
  placeDraft(draft, draftPath(draft), depth, refSize(refs, i) == 32)
  setRef(refs, i, placedAt, placedSize)
}

/** Merges a branch with its only remaining child, which moves up unless it is a branch. @param draft of the child; 0: no change is below it */
function collapse(key: usize, depth: u32, only: u32, ref: usize, size: u32, draft: usize, out: usize): void {
  const path = withNibble(key, depth, only)
  const below = depth + 1
  if (draft != 0) memory.copy(out, draft, draftBytes)
  else readDraft(path, below, ref, size, out)
  if (!isBranchAt(out, below) && size == 32) emit(path, below, 0)
}

/** Reads a node that no change is below as a draft. */
function readDraft(path: usize, depth: u32, ref: usize, size: u32, out: usize): void {
  const refs = push(refsBytes)
  const kind = read(path, depth, ref, size, 0, noneAlone, refs)
  pop(refsBytes)
  if (kind == branchKind) {
    setDraft(out, false, path, depth, ref, size)
    return
  }
  const full = joined(path, depth, prefixAt, prefixCount)
  setDraft(out, kind == leafKind, full, depth + prefixCount, itemAt, itemSize)
}
