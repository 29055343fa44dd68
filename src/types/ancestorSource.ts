import type { Payload } from './payload.ts'

/** Fetches blocks by hash: from peers of another network, or by an execution half that has such peers. */
export interface AncestorSource {
  /** connected peers; 0: it fetches nothing */
  readonly count: number
  /**
   * Yields the missing ancestors of a block, oldest first; the parent of the first one is canonical. Ends early when no peer has them. An execution half in
   * another process executes them itself: then none is yielded, and the parent of the block is known at the end.
   * @param floor number of the unsafe head
   * @param lowest number below which nothing is replaced
   */
  ancestors(block: Payload, floor: number, lowest: number, signal: AbortSignal): AsyncIterable<readonly Payload[]>
}
