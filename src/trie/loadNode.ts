import { toHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { type NodeLocation, trieFault } from './faults.ts'
import { nibbleText } from './nibbles.ts'
import { decodeNode, type NodeRef, type TrieNode } from './node.ts'
import type { NodeSource } from './ports.ts'

/** One trie in a source: the account trie, or the storage trie of `owner` (keccak of the address). `keyNibbles` is the length of its keys. */
export type TrieAt = { readonly nodes: NodeSource; readonly owner: Uint8Array | undefined; readonly keyNibbles: number }

/** Returns the data of a fault of a node. */
export function locationOf(owner: Uint8Array | undefined, path: Uint8Array, ref: NodeRef): NodeLocation {
  return { owner: owner ? toHex(owner) : 'accounts', path: nibbleText(path), hash: toHex(ref) }
}

function fits(trie: TrieAt, depth: number, node: TrieNode): boolean {
  if (node.kind === 'leaf') return depth + node.path.length === trie.keyNibbles
  return depth + (node.kind === 'extension' ? node.path.length : 0) < trie.keyNibbles
}

/** Returns the RLP of the referenced node. Throws Fault MISSING_NODE. */
export function nodeRlp(trie: TrieAt, path: Uint8Array, ref: NodeRef, key?: Uint8Array): Uint8Array {
  if (ref.length !== 32) return ref
  const rlp = trie.nodes.get(trie.owner, path, ref, key)
  if (rlp === undefined) throw trieFault('MISSING_NODE', locationOf(trie.owner, path, ref))
  return rlp
}

/** Decodes a node and checks that it fits its depth. Throws Fault BAD_NODE. */
export function nodeAt(trie: TrieAt, path: Uint8Array, ref: NodeRef, rlp: Uint8Array): TrieNode {
  try {
    const node = decodeNode(rlp)
    if (fits(trie, path.length, node)) return node
  } catch (error) {
    if (!(error instanceof RlpError)) throw error
    throw trieFault('BAD_NODE', locationOf(trie.owner, path, ref), error)
  }
  throw trieFault('BAD_NODE', locationOf(trie.owner, path, ref))
}

/** Loads the node that a reference at a path names. `key`: a key below the node, if known. @throws Fault MISSING_NODE, BAD_NODE */
export function loadNode(trie: TrieAt, path: Uint8Array, ref: NodeRef, key?: Uint8Array): TrieNode {
  return nodeAt(trie, path, ref, nodeRlp(trie, path, ref, key))
}
