import { compareBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { emptyRoot, type Hash } from '#types/ids'
import { nodeAt, nodeRlp, type TrieAt } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, type NodeRef } from './node.ts'
import type { NodeSource } from './ports.ts'

/** Is given the RLP of a node, and its keccak. */
export type FoundNode = (rlp: Uint8Array, hash: Uint8Array) => void

type Descent = TrieAt & { readonly keys: readonly Uint8Array[]; readonly paths: readonly Uint8Array[]; readonly found: FoundNode }

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
  keys: readonly Uint8Array[],
  found: FoundNode,
): void {
  const sorted = keys.toSorted(compareBytes)
  const first = sorted[0]
  if (root === emptyRoot || first === undefined) return
  const descent = { nodes, owner, keyNibbles: first.length * 2, keys: sorted, paths: sorted.map(nibblesOf), found }
  visit(descent, fromHex(root), 0, 0, sorted.length)
}

/** The node that `depth` nibbles of the keys [from, to) lead to, and those below it. */
function visit(descent: Descent, ref: NodeRef, depth: number, from: number, to: number): void {
  const { keys, paths, found } = descent
  const path = (paths[from] ?? emptyBytes).subarray(0, depth)
  const rlp = nodeRlp(descent, path, ref, keys[from])
  if (ref.length === 32) found(rlp, ref)
  const node = nodeAt(descent, path, ref, rlp)
  if (node.kind === 'leaf') return
  if (node.kind === 'extension') {
    const end = depth + node.path.length
    const isAlong = (at: number): boolean => compareBytes((paths[at] ?? emptyBytes).subarray(depth, end), node.path) === 0
    let first = from
    while (first < to && !isAlong(first)) first++
    let last = first
    while (last < to && isAlong(last)) last++
    if (first < last) visit(descent, node.child, end, first, last)
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
