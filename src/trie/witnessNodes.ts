import { compareBytes, concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyRoot, type Hash } from '#types/ids'
import { nodeAt, nodeRlp, type TrieAt } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, encodeLeaf, type NodeRef } from './node.ts'
import type { NodeSource } from './ports.ts'

/** Called with the RLP of a node and its keccak. */
export type FoundNode = (rlp: Uint8Array, hash: Uint8Array) => void

/** A requested key. With a known leaf value, the leaf itself need not be read. */
export type WitnessKey = { readonly key: Uint8Array; readonly value?: Uint8Array | undefined }

type Descent = TrieAt & { readonly keys: readonly WitnessKey[]; readonly paths: readonly Uint8Array[]; readonly found: FoundNode }

/**
 * Visits the nodes on the paths from the root to many keys, each once; together they prove all keys. The path of an absent key ends where it leaves
 * the trie; when that is an extension, the node below it is visited too: a key that is inserted there and removed again joins the two. Nodes embedded in
 * their parent are not visited separately; an empty trie has none.
 * @param keys of one length, in any order
 * @param found called with each node
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function visitNodes(
  nodes: NodeSource,
  owner: Uint8Array | undefined,
  root: Hash,
  keys: readonly WitnessKey[],
  found: FoundNode,
): void {
  const sorted = keys.toSorted((a, b) => compareBytes(a.key, b.key))
  const first = sorted[0]
  if (root === emptyRoot || first === undefined) return
  const descent = { nodes, owner, keyNibbles: first.key.length * 2, keys: sorted, paths: sorted.map(({ key }) => nibblesOf(key)), found }
  visit(descent, fromHex(root), 0, 0, sorted.length)
}

/** Encodes the leaf of a value; undefined unless its hash is the referenced one. */
function leafOf({ key, value }: WitnessKey, depth: number, ref: NodeRef): Uint8Array | undefined {
  if (value === undefined || ref.length !== 32) return undefined
  const rlp = encodeLeaf(key, depth, value)
  return equalBytes(keccak256(rlp), ref) ? rlp : undefined
}

/** Visits the node at `depth` nibbles of the keys [from, to) and the nodes below it. */
function visit(descent: Descent, ref: NodeRef, depth: number, from: number, to: number): void {
  const { keys, paths, found } = descent
  const whole = paths[from] ?? emptyBytes
  const leaf = to - from === 1 ? leafOf(keys[from] as WitnessKey, depth, ref) : undefined
  if (leaf !== undefined) {
    found(leaf, ref)
    return
  }
  const path = whole.subarray(0, depth)
  // with a value, the node is not the leaf of the key, or it has several keys below it
  const hint = keys[from]?.value === undefined ? keys[from]?.key : undefined
  const rlp = nodeRlp(descent, path, ref, hint)
  if (ref.length === 32) found(rlp, ref)
  const node = nodeAt(descent, path, ref, rlp)
  if (node.kind === 'leaf') return
  if (node.kind === 'extension') {
    const end = depth + node.path.length
    const isAlong = paths.slice(from, to).map((each) => equalBytes(each.subarray(depth, end), node.path))
    const first = isAlong.indexOf(true)
    if (first >= 0) visit(descent, node.child, end, from + first, from + isAlong.lastIndexOf(true) + 1)
    else if (node.child.length === 32) found(nodeRlp(descent, concatBytes(path, node.path), node.child), node.child)
    return
  }
  for (let start = from; start < to; ) {
    const nibble = paths[start]?.[depth] ?? 0
    let end = start + 1
    while (end < to && paths[end]?.[depth] === nibble) end++
    const child = childOf(node, nibble)
    if (child !== undefined) visit(descent, child, depth + 1, start, end)
    start = end
  }
}

/** Returns the RLP of the root node of a non-empty trie. @throws Fault MISSING_NODE */
export function topNode(nodes: NodeSource, owner: Uint8Array, root: Hash): Uint8Array {
  return nodeRlp({ nodes, owner, keyNibbles: 64 }, emptyBytes, fromHex(root))
}
