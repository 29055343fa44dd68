/** Where trie nodes come from: witnesses look up by hash, LMDB by path, a remote by either. */
export interface NodeSource {
  /**
   * RLP of a node that is not embedded in its parent.
   * @param owner keccak(address) for a storage trie, undefined for the account trie
   * @param path nibbles from the root, one a byte
   * @param hash keccak of the wanted RLP
   * @param key a whole key of the trie whose way leads through the node: where a source may look for a leaf first
   * @returns undefined when the source lacks it
   */
  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array | undefined
}

/** What an update does to the nodes of one trie, by path; `null` removes the node. */
export type NodeChange = { readonly path: Uint8Array; readonly node: Uint8Array | null }
