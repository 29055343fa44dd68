import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** How far back a reorg may begin: what was told is remembered for so many blocks, and for so many items. */
const maxTrailBlocks = 256
const maxTrailItems = 10_000

/** How far a filter or subscription was told of the chain. */
export type Trail<T> = {
  /** the last block that it was told of */
  readonly last: BlockId
  /** what it was told is remembered of the blocks above this number */
  readonly since: number
  /** the blocks of which it was told something, oldest first */
  readonly told: readonly ToldBlock<T>[]
}
export type ToldBlock<T> = BlockId & { readonly items: readonly T[] }

/** Where a filter begins: at the blocks after this one. */
export const trailFrom = (head: BlockId): Trail<never> => ({ last: head, since: head.number, told: [] })

/** The parents of the blocks that filters were told of lately: of those that are not canonical any more nobody else knows them. */
export class ToldParents {
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

/** Drops the oldest blocks of a trail that is longer than its limits. */
export function trimmedTrail<T>({ last, since, told }: Trail<T>): Trail<T> {
  let oldest = Math.max(since, last.number - maxTrailBlocks)
  let from = 0
  let items = told.reduce((sum, block) => sum + block.items.length, 0)
  for (; from < told.length; from++) {
    const block = told[from]
    if (block === undefined || (block.number > oldest && (items <= maxTrailItems || from === told.length - 1))) break
    items -= block.items.length
    oldest = Math.max(oldest, block.number)
  }
  return { last, since: oldest, told: from === 0 ? told : told.slice(from) }
}
