import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import { equalBytes } from './bytes.ts'
import { bytesOf, toHex } from './hex.ts'
import { decodeNode, maxNodeBytes, type Node, nibblesOf, type Reference } from './node.ts'
import { type ProblemCode, Refusal } from './refusal.ts'

/** Root of a trie without entries: the hash of the RLP of no bytes. */
export const emptyRoot: Uint8Array = keccak256(Uint8Array.of(0x80))

/** Proof of one key, as it was received. */
export type KeyProof = {
  /** proved already */
  readonly root: Uint8Array
  /** hashed address or slot */
  readonly key: Uint8Array
  /** nodes in hex, from the root down; not checked yet */
  readonly nodes: readonly unknown[]
  /** path of `nodes` in the input */
  readonly at: string
  /** problem when the first node does not have the root as its hash */
  readonly otherRoot: ProblemCode
}

/**
 * Follows a key from the root down. Each node must have the hash that its parent has for it, and the last node must be the last of the list.
 * The time is bounded: a step takes a nibble of the key at least, and a node has at most `maxNodeBytes`.
 * @returns the value of the key; undefined: the trie has no such key
 * @throws Refusal MALFORMED, NODES_WRONG, or `otherRoot`
 */
export function provedValue(proof: KeyProof): Uint8Array | undefined {
  const { root, key, nodes, at } = proof
  if (equalBytes(root, emptyRoot) && isEmptyTrie(nodes)) return undefined
  const path = nibblesOf(key)
  let reference: Reference = root
  let used = 0
  let depth = 0
  for (;;) {
    const isListed = reference.length === 32
    const rlp = isListed ? listedNode(proof, used, reference) : reference
    if (isListed) used++
    const here = `${at}[${used - 1}]`
    const step = stepFrom(decodeNode(rlp, here), path.subarray(depth), here)
    if (step.next !== undefined) {
      reference = step.next
      depth += step.nibbles
      continue
    }
    if (used < nodes.length) throw new Refusal('NODES_WRONG', `${at}[${used}]`, 'a node after the end of the path')
    return step.value
  }
}

/** Returns whether nodes are those of an empty trie: none, or, from some clients, the RLP of no bytes. */
const isEmptyTrie = (nodes: readonly unknown[]): boolean => nodes.length === 0 || (nodes.length === 1 && nodes[0] === '0x80')

/** Returns the RLP of a node of the list after a check of its hash. */
function listedNode({ nodes, at, otherRoot }: KeyProof, index: number, hash: Uint8Array): Uint8Array {
  const here = `${at}[${index}]`
  if (index >= nodes.length) throw new Refusal('NODES_WRONG', here, `the node with the hash ${toHex(hash)} is missing`)
  const rlp = bytesOf(nodes[index], here, maxNodeBytes)
  const found = keccak256(rlp)
  if (equalBytes(found, hash)) return rlp
  const [code, expected] = index === 0 ? ([otherRoot, 'the root is'] as const) : (['NODES_WRONG', 'its parent has'] as const)
  throw new Refusal(code, here, `its hash is ${toHex(found)}, ${expected} ${toHex(hash)}`)
}

/** Next node with the length of the path to it, or the end: a value, or undefined where the path leaves the trie. */
type Step = { readonly next: Reference; readonly nibbles: number } | { readonly next: undefined; readonly value: Uint8Array | undefined }

/** @param path rest of the key */
function stepFrom(node: Node, path: Uint8Array, at: string): Step {
  const isOnPath = (part: Uint8Array): boolean => equalBytes(part, path.subarray(0, part.length))
  if (node.kind === 'branch') {
    const nibble = path[0]
    if (nibble === undefined) throw new Refusal('NODES_WRONG', at, 'a branch below the end of the key')
    const next = node.children[nibble]
    return next === undefined ? { next, value: undefined } : { next, nibbles: 1 }
  }
  // a key ends at a leaf: an extension has a shorter path than the rest of the key, a leaf the same
  const rest = path.length - node.path.length
  if (node.kind === 'leaf' ? rest !== 0 : rest <= 0)
    throw new Refusal('NODES_WRONG', at, `a path of ${node.path.length} nibbles, ${path.length} are left of the key`)
  if (!isOnPath(node.path)) return { next: undefined, value: undefined }
  return node.kind === 'leaf' ? { next: undefined, value: node.value } : { next: node.child, nibbles: node.path.length }
}
