import type { Hash } from '#types/ids'

/** Kind of an entry: a block by its hash, or a blob by its versioned hash. Each is stored under the number of its L1 block. */
export type L1CacheKind = 'block' | 'blob'
export type L1CacheEntry = {
  readonly kind: L1CacheKind
  /** of the L1 block */
  readonly number: number
  readonly hash: Hash
  readonly bytes: Uint8Array
}

/**
 * Cache of L1 blocks and blobs that survives restarts. It is bounded in bytes and evicts the lowest L1 numbers first. Readers verify each entry
 * against its hash. node/ implements it on the consensus store.
 */
export interface L1Cache {
  /** Returns the hash of the block stored last at a number. */
  hashAt(number: number): Hash | undefined
  read(kind: L1CacheKind, hash: Hash): Uint8Array | undefined
  /** Stores an entry asynchronously; a block replaces another block at its number. Never fails: what cannot be stored is requested from L1 again. */
  keep(entry: L1CacheEntry): void
  /** Deletes a damaged entry. */
  drop(kind: L1CacheKind, hash: Hash): void
}
