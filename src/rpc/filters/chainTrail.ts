import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** Deepest reorg that filters can follow: number of blocks and of reported items that a trail remembers. */
const maxTrailBlocks = 256
const maxTrailItems = 10_000

/** Progress of a filter or subscription along the chain. */
export type Trail<T> = {
  /** the last reported block */
  readonly last: BlockId
  /** reported items are remembered for blocks above this number */
  readonly since: number
  /** blocks with reported items, oldest first */
  readonly notified: readonly NotifiedBlock<T>[]
}
export type NotifiedBlock<T> = BlockId & { readonly items: readonly T[] }

/** Trail of a filter that starts after this block. */
export const trailFrom = (head: BlockId): Trail<never> => ({ last: head, since: head.number, notified: [] })

/** Parents of recently reported blocks. For blocks that left the canonical chain this is the only source. */
export class ParentTrail {
  readonly #parents = new Map<Hash, Hash>()

  note(block: Hash, parent: Hash): void {
    if (this.#parents.has(block)) return
    this.#parents.set(block, parent)
    if (this.#parents.size <= 4 * maxTrailBlocks) return
    for (const oldest of this.#parents.keys()) {
      this.#parents.delete(oldest)
      return
    }
  }

  of(block: Hash): Hash | undefined {
    return this.#parents.get(block)
  }
}

/** Drops the oldest blocks of a trail that exceeds its limits. */
export function trimmedTrail<T>({ last, since, notified }: Trail<T>): Trail<T> {
  let oldest = Math.max(since, last.number - maxTrailBlocks)
  let from = 0
  let items = notified.reduce((sum, block) => sum + block.items.length, 0)
  for (; from < notified.length; from++) {
    const block = notified[from]
    if (block === undefined || (block.number > oldest && (items <= maxTrailItems || from === notified.length - 1))) break
    items -= block.items.length
    oldest = Math.max(oldest, block.number)
  }
  return { last, since: oldest, notified: from === 0 ? notified : notified.slice(from) }
}
