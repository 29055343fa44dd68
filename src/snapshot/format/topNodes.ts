import { latin1 } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { partingOf } from '#trie/nibbles'
import { childOf, decodeNode, type NodeRef } from '#trie/node'

/** Trie nodes above the parts of tries that chunks have, found by their hashes. Nothing about them is trusted but what a root leads to. */
export class TopNodes {
  readonly #byHash = new Map<string, Uint8Array>()

  add(node: Uint8Array): void {
    this.#byHash.set(latin1(keccak256(node)), node)
  }

  get nodes(): Iterable<Uint8Array> {
    return this.#byHash.values()
  }

  /**
   * Returns the reference to the part of a trie whose keys begin with a prefix.
   * @param prefix nibbles
   * @returns undefined when the nodes do not lead there, or the node above the prefix is no branch
   * @throws Fault BAD_NODE when a node on the path is malformed
   */
  partWith(root: Uint8Array, prefix: Uint8Array): NodeRef | undefined {
    let ref: NodeRef | undefined = root
    for (let at = 0; at < prefix.length; ) {
      const rlp: Uint8Array | undefined = ref?.length === 32 ? this.#byHash.get(latin1(ref)) : undefined
      if (rlp === undefined) return undefined
      const node = decodeNode(rlp)
      if (node.kind === 'leaf') return undefined
      if (node.kind === 'branch') {
        ref = childOf(node, prefix[at++] ?? 0)
        continue
      }
      const end = at + node.path.length
      if (end >= prefix.length || partingOf(node.path, prefix.subarray(at, end), 0) < node.path.length) return undefined
      ref = node.child
      at = end
    }
    return ref
  }
}
