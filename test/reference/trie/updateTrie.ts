import { compareBytes, concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { NodeChange, NodeSource } from '#trie/ports'
import type { TrieChange } from '#trie/tries'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { type Draft, draftOf, type Entry, placeDraft, place as placeNode } from '../../../src/trie/draft.ts'
import { loadNode, type TrieAt } from '../../../src/trie/loadNode.ts'
import { nibblesOf, partingOf } from '../../../src/trie/nibbles.ts'
import { type BranchNode, branchWith, childOf, type ExtensionNode, type LeafNode, type NodeRef } from '../../../src/trie/node.ts'

type Change = { readonly key: Uint8Array; readonly path: Uint8Array; readonly value: Uint8Array | null }
type Update = TrieAt & { readonly changes: readonly Change[]; readonly out: NodeChange[] }
/** A range [from, to) of changes below one node, whose path has `depth` nibbles. */
type Part = { readonly from: number; readonly to: number; readonly depth: number }

/** `unchanged`: no change had an effect. undefined: the subtree is empty. Otherwise: a draft for the part's place. */
type Result = Draft | 'unchanged' | undefined

/**
 * Applies changes to a trie, the second implementation: it judges `src/trie/assembly`. Reads, encodes and hashes each node on a changed path once.
 * @param owner keccak(address) for a storage trie, undefined for the account trie
 * @param changes strictly ascending by key, keys of one length; `null` removes the key, which may be absent; values are not empty
 * @returns the new root and the node changes, each path at most once, leaves included; a removal may name a node that was not stored
 * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the keys do not ascend
 */
export function updateTrie(
  nodes: NodeSource,
  owner: Uint8Array | undefined,
  root: Hash,
  changes: readonly TrieChange[],
): { root: Hash; changes: NodeChange[] } {
  const first = changes[0]
  if (first === undefined) return { root, changes: [] }
  for (let i = 1; i < changes.length; i++) {
    if (compareBytes(changes[i - 1]?.key ?? emptyBytes, changes[i]?.key ?? emptyBytes) >= 0)
      throw new RangeError('trie: keys do not ascend')
  }
  const paths = changes.map(({ key, value }) => ({ key, path: nibblesOf(key), value }))
  const update: Update = { nodes, owner, keyNibbles: first.key.length * 2, changes: paths, out: [] }
  const isEmpty = root === emptyRoot
  const part = { from: 0, to: paths.length, depth: 0 }
  const result = isEmpty ? inserted(update, part) : updated(update, part, fromHex(root))
  if (result === 'unchanged') return { root, changes: [] }
  if (result === undefined) {
    if (!isEmpty) update.out.push({ path: emptyBytes, node: null })
    return { root: emptyRoot, changes: update.out }
  }
  return { root: hashFromBytes(placeDraft(update.out, emptyBytes, result, !isEmpty)), changes: update.out }
}

const pathOf = (update: Update, part: Part): Uint8Array => (update.changes[part.from]?.path ?? emptyBytes).subarray(0, part.depth)

const isStored = (ref: NodeRef | undefined): boolean => ref?.length === 32

/** Returns the node moved up in the trie, with `prefix` prepended to its path. */
function prefixed<T extends LeafNode | ExtensionNode>(prefix: Uint8Array, node: T): T {
  return { ...node, path: concatBytes(prefix, node.path) }
}

function hasChild({ rlp, starts }: BranchNode, nibble: number): boolean {
  return rlp[starts[nibble] ?? 0] !== 0x80
}

/** Builds the subtree of changes at a place that was empty. */
function inserted(update: Update, part: Part): Result {
  const entries = valuesOf(update, part.from, part.to)
  return entries.length === 0 ? 'unchanged' : draftOf(update.out, entries, 0, entries.length, part.depth, false)
}

function valuesOf(update: Update, from: number, to: number): Entry[] {
  const entries: Entry[] = []
  for (let i = from; i < to; i++) {
    const change = update.changes[i]
    if (change && change.value !== null) entries.push({ path: change.path, value: change.value })
  }
  return entries
}

function updated(update: Update, part: Part, ref: NodeRef): Result {
  const node = loadNode(update, pathOf(update, part), ref, update.changes[part.from]?.key)
  switch (node.kind) {
    case 'leaf':
      return updatedLeaf(update, part, node, isStored(ref))
    case 'extension':
      return updatedExtension(update, part, node, isStored(ref))
    case 'branch':
      return updatedBranch(update, part, node, isStored(ref))
  }
}

function updatedLeaf(update: Update, part: Part, leaf: LeafNode, hadNode: boolean): Result {
  const path = concatBytes(pathOf(update, part), leaf.path)
  const entries: Entry[] = []
  let isPending = true
  for (let i = part.from; i < part.to; i++) {
    const change = update.changes[i] as Change
    const order = isPending ? compareBytes(path, change.path) : 1
    if (order < 0) entries.push({ path, value: leaf.value })
    if (order <= 0) isPending = false
    if (change.value !== null) entries.push({ path: change.path, value: change.value })
  }
  if (isPending) entries.push({ path, value: leaf.value })
  const only = entries.length === 1 ? entries[0] : undefined
  if (only?.value && equalBytes(only.path, path) && equalBytes(only.value, leaf.value)) return 'unchanged'
  return entries.length === 0 ? undefined : draftOf(update.out, entries, 0, entries.length, part.depth, hadNode)
}

/** Updates an extension. Changes under its full path go to the child; other values split the extension. */
function updatedExtension(update: Update, part: Part, node: ExtensionNode, hadNode: boolean): Result {
  const end = part.depth + node.path.length
  const path = concatBytes(pathOf(update, part), node.path)
  const isUnder = (i: number): boolean => partingOf(path, update.changes[i]?.path ?? emptyBytes, part.depth) === end
  let { from } = part
  while (from < part.to && !isUnder(from) && compareBytes(update.changes[from]?.path ?? emptyBytes, path) < 0) from++
  let to = from
  while (to < part.to && isUnder(to)) to++
  const below = from === to ? 'unchanged' : updated(update, { from, to, depth: end }, node.child)
  const before = valuesOf(update, part.from, from)
  const after = valuesOf(update, to, part.to)
  const isAlone = before.length + after.length === 0
  if (below === 'unchanged' && isAlone) return 'unchanged'
  const kept = keptUnder(node, below)
  const mark = update.out.length
  const entries = [...before, ...entryOf(pathOf(update, part), kept), ...after]
  const draft = isAlone ? kept : draftOf(update.out, entries, 0, entries.length, part.depth, hadNode)
  const isChildGone = below !== 'unchanged' && below?.kind !== 'branch' && isStored(node.child)
  const isReplaced = update.out.slice(mark).some((change) => equalBytes(change.path, path))
  if (isChildGone && !isReplaced) update.out.push({ path, node: null })
  return draft
}

/** Returns the rest of an extension after its child became `below`. */
function keptUnder(node: ExtensionNode, below: Result): Draft | undefined {
  if (below === undefined || below === 'unchanged') return below && node
  return below.kind === 'branch' ? { ...node, child: below.ref } : prefixed(node.path, below)
}

function entryOf(prefix: Uint8Array, draft: Draft | undefined): Entry[] {
  if (draft === undefined) return []
  if (draft.kind === 'branch') return [{ path: prefix, child: draft.ref }]
  const path = concatBytes(prefix, draft.path)
  return [draft.kind === 'leaf' ? { path, value: draft.value } : { path, child: draft.child }]
}

function updatedBranch(update: Update, part: Part, branch: BranchNode, hadNode: boolean): Result {
  const results = partsBelow(update, part).map(([nibble, below]): BelowBranch => {
    const before = childOf(branch, nibble)
    return { nibble, below, before, after: before === undefined ? inserted(update, below) : updated(update, below, before) }
  })
  const changed = results.filter(({ after }) => after !== 'unchanged')
  if (changed.length === 0) return 'unchanged'
  for (const { below, before, after } of changed) {
    if (after === undefined && isStored(before)) update.out.push({ path: pathOf(update, below), node: null })
  }
  const { count, first } = childrenLeft(branch, changed)
  if (count === 0) return undefined
  if (count === 1) return collapsed(update, part, branch, first, changed.find(({ nibble }) => nibble === first)?.after)
  const replaced = changed.map(({ nibble, below, before, after }) => ({
    nibble,
    child:
      after === undefined || after === 'unchanged' ? undefined : placeDraft(update.out, pathOf(update, below), after, isStored(before)),
  }))
  return { kind: 'branch', ref: placeNode(update.out, pathOf(update, part), branchWith(branch, replaced), hadNode) }
}

/** Result of the changes below one child of a branch. */
type BelowBranch = { readonly nibble: number; readonly below: Part; readonly before: NodeRef | undefined; readonly after: Result }

/** Returns how many children a branch has left (0, 1, or 2 for more) and the first of them. */
function childrenLeft(branch: BranchNode, changed: readonly BelowBranch[]): { count: number; first: number } {
  let mask = 0
  for (let nibble = 0; nibble < 16; nibble++) if (hasChild(branch, nibble)) mask |= 1 << nibble
  for (const { nibble, after } of changed) mask = after === undefined ? mask & ~(1 << nibble) : mask | (1 << nibble)
  const first = 31 - Math.clz32(mask & -mask)
  return { count: mask === 0 ? 0 : mask === 1 << first ? 1 : 2, first }
}

/** Splits the changes by child of a branch. */
function partsBelow(update: Update, { from, to, depth }: Part): [nibble: number, part: Part][] {
  const parts: [number, Part][] = []
  for (let start = from; start < to; ) {
    const nibble = update.changes[start]?.path[depth] ?? 0
    let end = start + 1
    while (end < to && update.changes[end]?.path[depth] === nibble) end++
    parts.push([nibble, { from: start, to: end, depth: depth + 1 }])
    start = end
  }
  return parts
}

/** Merges a branch with its only remaining child. The child is read if no change read it, and moves up unless it is a branch. */
function collapsed(update: Update, part: Part, branch: BranchNode, nibble: number, result: Result): Draft {
  const path = concatBytes(pathOf(update, part), Uint8Array.of(nibble))
  const ref = childOf(branch, nibble)
  const prefix = Uint8Array.of(nibble)
  const child = result === 'unchanged' || result === undefined ? readDraft(update, path, ref as NodeRef) : result
  if (child.kind === 'branch') return { kind: 'extension', path: prefix, child: child.ref }
  if (isStored(ref)) update.out.push({ path, node: null })
  return prefixed(prefix, child)
}

function readDraft(update: Update, path: Uint8Array, ref: NodeRef): Draft {
  const node = loadNode(update, path, ref)
  return node.kind === 'branch' ? { kind: 'branch', ref } : node
}
