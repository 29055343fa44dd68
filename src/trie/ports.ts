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
  /**
   * Reads a node like `get`, without a copy: the node is valid until `use` returns, and `use` must not read from the source. Absent: `get` makes no copy.
   * @returns the result of `use`; undefined when the source lacks the node
   */
  look?<T>(
    owner: Uint8Array | undefined,
    path: Uint8Array,
    hash: Uint8Array,
    key: Uint8Array | undefined,
    use: (rlp: Uint8Array) => T,
  ): T | undefined
}

/** Source without nodes: that of the empty trie. */
export const noNodes: NodeSource = { get: () => undefined }

/** Reads a node of any source as `NodeSource.look`. */
export function lookAt<T>(
  source: NodeSource,
  owner: Uint8Array | undefined,
  path: Uint8Array,
  hash: Uint8Array,
  key: Uint8Array | undefined,
  use: (rlp: Uint8Array) => T,
): T | undefined {
  if (source.look) return source.look(owner, path, hash, key, use)
  const rlp = source.get(owner, path, hash, key)
  return rlp && use(rlp)
}

/** Change of one trie node by path; `null` removes the node. */
export type NodeChange = { readonly path: Uint8Array; readonly node: Uint8Array | null }
