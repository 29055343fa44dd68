/** A distance on the chain, by time or by number of blocks. */
export type ChainDistance = { readonly sec: number } | { readonly blocks: number }

/** Older states to keep. Distances count back from the head, times by its timestamp. */
export type Retention = {
  /** accounts and slots */
  readonly history: ChainDistance | 'all'
  /** Trie nodes, for proofs: at most as deep as `history`, and at least an hour. Absent: an hour. */
  readonly proofs?: ChainDistance | 'all'
}
