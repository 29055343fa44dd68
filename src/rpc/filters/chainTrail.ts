import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/**
 * Block time that filters and subscriptions can follow a reorg back, in seconds. It exceeds the time that a filter lives without a poll, so a
 * filter that is polled in time survives any reorg since its last poll.
 */
const rememberedSec = 512
/** Maximum number of remembered blocks: four branches at five blocks per second. */
const maxBlocks = 4 * 5 * rememberedSec

/** Progress of a filter or subscription along the chain. */
export type Trail = {
  /** the last reported block */
  readonly last: BlockId
  /** blocks above this number were reported: the head at the start, or the lowest block on which a reorg began since then */
  readonly since: number
}

/** Parents of recently reported blocks. For blocks that left the canonical chain this is the only source. */
export class ParentTrail {
  readonly #blocks = new Map<Hash, { readonly parent: Hash; readonly timestamp: number }>()
  #newest = 0
  #forgotten = 0

  /** Number of blocks that were dropped since the start. */
  get forgotten(): number {
    return this.#forgotten
  }

  /** @param timestamp of the block, in seconds */
  note(block: Hash, parent: Hash, timestamp: number): void {
    if (this.has(block)) return
    this.#blocks.set(block, { parent, timestamp })
    this.#newest = Math.max(this.#newest, timestamp)
    for (const [oldest, { timestamp: at }] of this.#blocks) {
      if (this.#blocks.size <= maxBlocks && at >= this.#newest - rememberedSec) return
      this.#blocks.delete(oldest)
      this.#forgotten++
    }
  }

  has(block: Hash): boolean {
    return this.#blocks.has(block)
  }

  of(block: Hash): Hash | undefined {
    return this.#blocks.get(block)?.parent
  }
}
