import type { Hash } from '#types/ids'

/** A block by its hash, or a blob by its versioned hash; both at the number of the L1 block they belong to. */
export type L1CacheKind = 'block' | 'blob'
export type L1CacheEntry = {
  readonly kind: L1CacheKind
  /** of the L1 block */
  readonly number: number
  readonly hash: Hash
  readonly bytes: Uint8Array
}

/**
 * What was read from L1, kept over restarts and bounded in bytes: the lowest L1 numbers go first. Nothing that comes out is believed: the reader
 * holds it against its hash. node/ fits the consensus store to it.
 */
export interface L1Cache {
  /** The hash of the block kept at a number: the one kept last. */
  hashAt(number: number): Hash | undefined
  read(kind: L1CacheKind, hash: Hash): Uint8Array | undefined
  /** Keeps it, some time later; a block replaces another one at its number. Never fails: what cannot be kept is asked of L1 again. */
  keep(entry: L1CacheEntry): void
  /** Forgets one that turned out to be damaged. */
  drop(kind: L1CacheKind, hash: Hash): void
}
