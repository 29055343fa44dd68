/** A distance on the chain, by time or by number of blocks. */
export type ChainDistance = { readonly sec: number } | { readonly blocks: number }
