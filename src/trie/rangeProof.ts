import { compareBytes, concatBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import { emptyRoot, type Hash } from '#types/ids'
import type { LeafLimits, LeafRange, ProvedLeaves } from '#types/worldReads'
import { draftOf, type Entry, placeDraft } from './draft.ts'
import { leavesFrom, type TrieLeaf } from './leavesFrom.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, decodeNode, type NodeRef, type TrieNode } from './node.ts'
import type { NodeChange, NodeSource } from './ports.ts'
import { createProof } from './proof.ts'

/**
 * Reads the leaves of a range with a proof that they are all leaves of it, up to the leaf that reaches a limit. The proof has the nodes from the root to
 * the first key, and to the last key of the range or of the last leaf.
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function createRangeProof(
  nodes: NodeSource,
  owner: Uint8Array | undefined,
  root: Hash,
  { first, last }: LeafRange,
  limits: LeafLimits,
): ProvedLeaves {
  const leaves: TrieLeaf[] = []
  let bytes = 0
  let isWhole = true
  for (const leaf of leavesFrom(nodes, owner, root, first)) {
    if (compareBytes(leaf.key, last) > 0) break
    if (leaves.length >= limits.leaves || bytes >= limits.bytes) {
      isWhole = false
      break
    }
    leaves.push(leaf)
    bytes += leaf.key.length + leaf.value.length
  }
  const end = isWhole ? last : (leaves.at(-1)?.key ?? last)
  if (root === emptyRoot) return { root, leaves, proof: [], isWhole }
  const proof = createProof(nodes, owner, root, first)
  for (const node of createProof(nodes, owner, root, end)) if (!proof.some((known) => equalBytes(known, node))) proof.push(node)
  return { root, leaves, proof, isWhole }
}

export type RangeVerdict = { readonly kind: 'valid' } | { readonly kind: 'invalid'; readonly reason: string }

/** Longest proof: two paths of a branch for each nibble and a leaf. */
const maxProofNodes = 130

class InvalidRange extends Error {}

/** Receives a node that is not embedded in its parent. @param path nibbles from the root, one per byte */
export type RangeSink = (path: Uint8Array, rlp: Uint8Array) => void

/**
 * Verifies that untrusted leaves are all leaves of a range under a root: none is missing, changed or added. Subtrees between the two ends are built from
 * the leaves, so the proof needs the nodes towards the ends only. Nodes that are not needed are ignored. Time and memory are bounded by the input.
 * @param leaves in the order of their keys
 * @param sink receives each node that has a key of the range below it, in no order; the nodes count only if the range is valid
 */
export function verifyRange(
  root: Hash,
  range: LeafRange,
  leaves: readonly TrieLeaf[],
  proof: readonly Uint8Array[],
  sink: RangeSink = () => {},
): RangeVerdict {
  try {
    const entries = entriesOf(range, leaves)
    if (proof.length > maxProofNodes) throw new InvalidRange(`a proof of ${proof.length} nodes`)
    const byHash = new Map(proof.map((rlp) => [toHex(keccak256(rlp)), rlp]))
    const check = new RangeCheck(nibblesOf(range.first), nibblesOf(range.last), entries, byHash, sink)
    check.subtree(root === emptyRoot ? undefined : fromHex(root), new Uint8Array(), 0, entries.length)
    return { kind: 'valid' }
  } catch (error) {
    if (error instanceof InvalidRange || error instanceof RlpError) return { kind: 'invalid', reason: error.message }
    throw error
  }
}

function entriesOf({ first, last }: LeafRange, leaves: readonly TrieLeaf[]): Entry[] {
  let before: Uint8Array | undefined
  return leaves.map(({ key, value }) => {
    if (key.length !== first.length || value.length === 0) throw new InvalidRange('a leaf with a key of another length, or without a value')
    if (compareBytes(key, first) < 0 || compareBytes(key, last) > 0) throw new InvalidRange('a leaf outside of the range')
    if (before && compareBytes(before, key) >= 0) throw new InvalidRange('keys do not ascend')
    before = key
    return { path: nibblesOf(key), value }
  })
}

class RangeCheck {
  readonly #first: Uint8Array
  readonly #last: Uint8Array
  readonly #entries: readonly Entry[]
  readonly #nodes: ReadonlyMap<string, Uint8Array>
  readonly #sink: RangeSink

  /** @param first @param last as nibbles */
  constructor(first: Uint8Array, last: Uint8Array, entries: readonly Entry[], nodes: ReadonlyMap<string, Uint8Array>, sink: RangeSink) {
    this.#first = first
    this.#last = last
    this.#entries = entries
    this.#nodes = nodes
    this.#sink = sink
  }

  /**
   * Checks the entries [from, to), which are those with a prefix, against the subtree at the prefix.
   * @throws InvalidRange, RlpError
   */
  subtree(ref: NodeRef | undefined, prefix: Uint8Array, from: number, to: number): void {
    const place = this.#place(prefix)
    if (place === 'inside') this.#built(ref, prefix, from, to)
    if (place !== 'edge') return
    if (ref !== undefined) this.#node(this.#decoded(ref, prefix), prefix, from, to)
    else if (from < to) throw new InvalidRange('a leaf that the trie does not have')
  }

  /** Returns where all keys with a prefix are. `edge`: some are in the range, or the range ends among them. */
  #place(prefix: Uint8Array): 'inside' | 'outside' | 'edge' {
    const { length } = prefix
    const afterFirst = compareBytes(prefix, this.#first.subarray(0, length))
    const afterLast = compareBytes(prefix, this.#last.subarray(0, length))
    if (afterFirst < 0 || afterLast > 0) return 'outside'
    const isAfter = afterFirst > 0 || this.#first.subarray(length).every((nibble) => nibble === 0)
    const isBefore = afterLast < 0 || this.#last.subarray(length).every((nibble) => nibble === 15)
    return isAfter && isBefore ? 'inside' : 'edge'
  }

  #built(ref: NodeRef | undefined, prefix: Uint8Array, from: number, to: number): void {
    const nodes: NodeChange[] = []
    const built = from < to ? placeDraft(nodes, prefix, draftOf(nodes, this.#entries, from, to, prefix.length, false), false) : undefined
    const isEqual = built === undefined || ref === undefined ? built === ref : equalBytes(built, ref)
    if (!isEqual) throw new InvalidRange('leaves are missing, changed or added')
    for (const { path, node } of nodes) if (node) this.#sink(path, node)
  }

  #decoded(ref: NodeRef, path: Uint8Array): TrieNode {
    if (ref.length !== 32) return decodeNode(ref)
    const rlp = this.#nodes.get(toHex(ref))
    if (rlp === undefined) throw new InvalidRange(`the node ${toHex(ref)} is missing`)
    this.#sink(path, rlp)
    return decodeNode(rlp)
  }

  #node(node: TrieNode, prefix: Uint8Array, from: number, to: number): void {
    if (node.kind === 'branch') {
      if (prefix.length >= this.#first.length) throw new InvalidRange('a branch below the end of the keys')
      this.#branch((nibble) => childOf(node, nibble), prefix, from, to)
      return
    }
    const below = concatBytes(prefix, node.path)
    for (let i = from; i < to; i++) {
      const path = this.#entries[i]?.path.subarray(0, below.length)
      if (path === undefined || !equalBytes(path, below)) throw new InvalidRange('a leaf that the trie does not have')
    }
    if (node.kind === 'leaf') this.#leaf(below, node.value, from, to)
    else if (below.length >= this.#first.length) throw new InvalidRange('an extension below the end of the keys')
    else this.subtree(node.child, below, from, to)
  }

  /** @param path of a leaf of the trie, whole */
  #leaf(path: Uint8Array, value: Uint8Array, from: number, to: number): void {
    if (path.length !== this.#first.length) throw new InvalidRange('a leaf whose key has another length')
    const isExpected = compareBytes(path, this.#first) >= 0 && compareBytes(path, this.#last) <= 0
    const given = this.#entries[from]?.value
    const isGiven = to - from === 1 && given !== undefined && equalBytes(given, value)
    if (isExpected ? !isGiven : from < to) throw new InvalidRange('leaves are missing, changed or added')
  }

  #branch(childAt: (nibble: number) => NodeRef | undefined, prefix: Uint8Array, from: number, to: number): void {
    let start = from
    for (let nibble = 0; nibble < 16; nibble++) {
      let end = start
      while (end < to && this.#entries[end]?.path[prefix.length] === nibble) end++
      this.subtree(childAt(nibble), concatBytes(prefix, Uint8Array.of(nibble)), start, end)
      start = end
    }
  }
}
