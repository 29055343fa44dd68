import { equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import { emptyRoot, type Hash } from '#types/ids'
import { nodeAt, nodeRlp } from './loadNode.ts'
import { nibblesOf } from './nibbles.ts'
import { decodeNode, type NodeRef } from './node.ts'
import type { NodeSource } from './ports.ts'
import { stepTo, walk } from './readTrie.ts'

/**
 * Returns the RLP of the nodes from the root to a key, as `eth_getProof` lists them. Nodes embedded in their parent are not listed separately; an
 * empty trie has no nodes. The proof of an absent key ends at the node where its path leaves the trie.
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function createProof(nodes: NodeSource, owner: Uint8Array | undefined, root: Hash, key: Uint8Array): Uint8Array[] {
  const proof: Uint8Array[] = []
  walk({ nodes, owner, keyNibbles: key.length * 2 }, root, key, (trie, path, ref) => {
    const rlp = nodeRlp(trie, path, ref, key)
    if (ref.length === 32) proof.push(rlp)
    return nodeAt(trie, path, ref, rlp)
  })
  return proof
}

export type ProofVerdict =
  | { readonly kind: 'present'; readonly value: Uint8Array }
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly reason: string }

/** Verifies an untrusted proof of a key under a root. Extra nodes make it invalid. For an empty trie, 0x80 is accepted, as some clients send it. */
export function verifyProof(root: Hash, key: Uint8Array, proof: readonly Uint8Array[]): ProofVerdict {
  if (root === emptyRoot && proof.every((rlp) => rlp.length === 1 && rlp[0] === 0x80)) return { kind: 'absent' }
  try {
    return follow(fromHex(root), nibblesOf(key), proof)
  } catch (error) {
    if (error instanceof RlpError) return { kind: 'invalid', reason: error.message }
    throw error
  }
}

function follow(root: NodeRef, path: Uint8Array, proof: readonly Uint8Array[]): ProofVerdict {
  let ref = root
  let depth = 0
  let used = 0
  for (;;) {
    const rlp = ref.length === 32 ? proof[used++] : ref
    if (rlp === undefined) return { kind: 'invalid', reason: 'the proof ends early' }
    if (ref.length === 32 && !equalBytes(keccak256(rlp), ref)) return { kind: 'invalid', reason: `node ${used} has another hash` }
    const step = stepTo(decodeNode(rlp), path, depth)
    if (step === undefined || 'value' in step) {
      if (used !== proof.length) return { kind: 'invalid', reason: 'nodes after the end' }
      return step === undefined ? { kind: 'absent' } : { kind: 'present', value: step.value }
    }
    ref = step.child
    depth = step.depth
  }
}
