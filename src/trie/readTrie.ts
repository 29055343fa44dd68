import { emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { emptyRoot, type Hash } from '#types/ids'
import { loadNode, type TrieAt } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, type NodeRef, type TrieNode } from './node.ts'
import type { NodeSource } from './ports.ts'

/** Advances one node towards a key. Returns the next reference, the value at the key's end, or undefined when the key is absent. */
export function stepTo(
  node: TrieNode,
  path: Uint8Array,
  depth: number,
): { readonly child: NodeRef; readonly depth: number } | { readonly value: Uint8Array } | undefined {
  if (node.kind === 'branch') {
    const child = childOf(node, path[depth] ?? 0)
    return child && { child, depth: depth + 1 }
  }
  const end = depth + node.path.length
  if (!equalBytes(node.path, path.subarray(depth, end))) return undefined
  return node.kind === 'leaf' ? { value: node.value } : { child: node.child, depth: end }
}

/**
 * Reads the value of a key, starting at the root.
 * @param key as long as all keys of the trie
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function readTrie(nodes: NodeSource, owner: Uint8Array | undefined, root: Hash, key: Uint8Array): Uint8Array | undefined {
  return walk({ nodes, owner, keyNibbles: key.length * 2 }, root, key, loadNode)
}

/** Follows a key from the root, loading each node with `load`. */
export function walk(
  trie: TrieAt,
  root: Hash,
  key: Uint8Array,
  load: (trie: TrieAt, path: Uint8Array, ref: NodeRef, key: Uint8Array) => TrieNode,
): Uint8Array | undefined {
  if (root === emptyRoot) return undefined
  const path = nibblesOf(key)
  let ref: NodeRef = fromHex(root)
  let depth = 0
  for (;;) {
    const node = load(trie, depth === 0 ? emptyBytes : path.subarray(0, depth), ref, key)
    const step = stepTo(node, path, depth)
    if (step === undefined) return undefined
    if ('value' in step) return step.value
    ref = step.child
    depth = step.depth
  }
}
