import { compareBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyRoot, type Hash } from '#types/ids'
import { nodeAt, nodeRlp, type TrieAt } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, encodeNode, type NodeRef } from './node.ts'
import type { NodeSource } from './ports.ts'

/** Is given the RLP of a node, and its keccak. */
export type FoundNode = (rlp: Uint8Array, hash: Uint8Array) => void

/** A key that is asked for, and what its leaf holds where that is known: then the leaf itself need not be read. */
export type WitnessKey = { readonly key: Uint8Array; readonly value?: Uint8Array | undefined }

type Descent = TrieAt & { readonly keys: readonly WitnessKey[]; readonly paths: readonly Uint8Array[]; readonly found: FoundNode }

/**
 * The nodes on the ways from the root to many keys, each once: what proves all of them together. The way of a key that is not there ends where it
 * parts from the trie. Nodes embedded in their parent do not stand alone; an empty trie has none.
 * @param keys of one length, in any order
 * @param found is given each
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

/** The leaf of a value, if it is the node of this name. */
function leafOf(value: Uint8Array | undefined, path: Uint8Array, ref: NodeRef): Uint8Array | undefined {
  if (value === undefined || ref.length !== 32) return undefined
  const rlp = encodeNode({ kind: 'leaf', path, value })
  return equalBytes(keccak256(rlp), ref) ? rlp : undefined
}

/** The node that `depth` nibbles of the keys [from, to) lead to, and those below it. */
function visit(descent: Descent, ref: NodeRef, depth: number, from: number, to: number): void {
  const { keys, paths, found } = descent
  const whole = paths[from] ?? emptyBytes
  const leaf = to - from === 1 ? leafOf(keys[from]?.value, whole.subarray(depth), ref) : undefined
  if (leaf !== undefined) {
    found(leaf, ref)
    return
  }
  const path = whole.subarray(0, depth)
  const rlp = nodeRlp(descent, path, ref, keys[from]?.key)
  if (ref.length === 32) found(rlp, ref)
  const node = nodeAt(descent, path, ref, rlp)
  if (node.kind === 'leaf') return
  if (node.kind === 'extension') {
    const end = depth + node.path.length
    const isAlong = paths.slice(from, to).map((each) => equalBytes(each.subarray(depth, end), node.path))
    const first = isAlong.indexOf(true)
    if (first >= 0) visit(descent, node.child, end, from + first, from + isAlong.lastIndexOf(true) + 1)
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

/** The RLP of the top node of a trie that is not empty. @throws Fault MISSING_NODE */
export function topNode(nodes: NodeSource, owner: Uint8Array, root: Hash): Uint8Array {
  return nodeRlp({ nodes, owner, keyNibbles: 64 }, emptyBytes, fromHex(root))
}
