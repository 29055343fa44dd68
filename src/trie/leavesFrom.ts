import { compareBytes, concatBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { emptyRoot, type Hash } from '#types/ids'
import { loadNode, type TrieAt } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { childOf, type NodeRef } from './node.ts'
import type { NodeSource } from './ports.ts'

export type TrieLeaf = { readonly key: Uint8Array; readonly value: Uint8Array }

/**
 * Iterates over the entries of a trie in key order, from a key on.
 * @param start as long as all keys of the trie
 * @throws Fault MISSING_NODE, BAD_NODE, during the iteration
 */
export function* leavesFrom(nodes: NodeSource, owner: Uint8Array | undefined, root: Hash, start: Uint8Array): Generator<TrieLeaf> {
  if (root === emptyRoot) return
  const trie: TrieAt = { nodes, owner, keyNibbles: start.length * 2 }
  yield* leavesBelow(trie, fromHex(root), emptyBytes, nibblesOf(start))
}

function* leavesBelow(trie: TrieAt, ref: NodeRef, path: Uint8Array, start: Uint8Array): Generator<TrieLeaf> {
  const node = loadNode(trie, path, ref)
  if (node.kind === 'leaf') {
    const whole = concatBytes(path, node.path)
    if (compareBytes(whole, start) >= 0) yield { key: keyOf(whole), value: node.value }
    return
  }
  if (node.kind === 'extension') {
    const below = concatBytes(path, node.path)
    if (!isBefore(below, start)) yield* leavesBelow(trie, node.child, below, start)
    return
  }
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = childOf(node, nibble)
    const below = concatBytes(path, Uint8Array.of(nibble))
    if (child !== undefined && !isBefore(below, start)) yield* leavesBelow(trie, child, below, start)
  }
}

/** Returns whether all keys below a path sort before the start. */
const isBefore = (path: Uint8Array, start: Uint8Array): boolean => compareBytes(path, start.subarray(0, path.length)) < 0

function keyOf(path: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: path.length / 2 }, (_, i) => ((path[2 * i] ?? 0) << 4) | (path[2 * i + 1] ?? 0))
}
