import type { Hash } from '#types/ids'
import type { SeenBlocksView } from './judgeBlock.ts'

/** Heights of which hashes are remembered. @see op-node p2p/gossip.go */
const maxHeights = 1_000

/** Hashes of accepted blocks by height. At the bound the lowest height is evicted. */
export class SeenBlocks implements SeenBlocksView {
  readonly #heights = new Map<number, Hash[]>()
  #lowest = Number.POSITIVE_INFINITY

  at(number: number): readonly Hash[] {
    return this.#heights.get(number) ?? []
  }

  add(number: number, hash: Hash): void {
    const hashes = this.#heights.get(number)
    if (hashes) return void hashes.push(hash)
    this.#heights.set(number, [hash])
    this.#lowest = Math.min(this.#lowest, number)
    if (this.#heights.size <= maxHeights) return
    this.#heights.delete(this.#lowest)
    this.#lowest = Math.min(...this.#heights.keys())
  }
}
