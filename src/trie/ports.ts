/** Source of trie nodes. A witness looks up by hash, LMDB by path, a remote node by either. */
export interface NodeSource {
  /**
   * Returns the RLP of a node that is not embedded in its parent.
   * @param owner keccak(address) for a storage trie, undefined for the account trie
   * @param path nibbles from the root, one per byte
   * @param hash keccak of the requested RLP
   * @param key a full key whose path passes through the node; the source may try the leaf of this key first
   * @returns undefined when the source lacks the node
   */
  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array | undefined
}

/** Change of one trie node by path; `null` removes the node. */
export type NodeChange = { readonly path: Uint8Array; readonly node: Uint8Array | null }
