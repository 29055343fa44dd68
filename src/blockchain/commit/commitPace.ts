import type { ExecutedBlock } from '#block/execution/executedBlock'

/** Cost of a transaction before the first measurement, and the least assumed cost: 52 Mgas of transfers and swaps are about 3 MB and 57 ms. */
const firstGuess = { ms: 20, bytes: 2 ** 20 }
const leastMsPerByte = 2 / 2 ** 20

/** Longest transaction that removes several blocks: all of its rows are in memory. */
const mostUnwindMs = 25

/** Chooses how many blocks a transaction writes, or removes, to stay within a time, learnt from previous transactions. */
export class CommitPace {
  readonly #sliceMs: number
  #toUnwind = 1
  #ms: number = firstGuess.ms
  #bytes: number = firstGuess.bytes

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Returns how many blocks fit, one at least if there are any. @param sizeOf bytes of a block in memory: the bytes to write grow with them */
  blocksIn(blocks: readonly ExecutedBlock[], sizeOf: (block: ExecutedBlock) => number): number {
    const maxBytes = this.#sliceMs / Math.max(leastMsPerByte, this.#ms / this.#bytes)
    let bytes = 0
    let count = 0
    for (const block of blocks) {
      bytes += sizeOf(block)
      if (count > 0 && bytes > maxBytes) break
      count++
    }
    return count
  }

  /** Adds a measurement and halves the weight of the previous ones. */
  took(ms: number, sizes: readonly number[]): void {
    if (sizes.length === 0) return
    this.#ms = this.#ms / 2 + Math.max(0, ms)
    this.#bytes = this.#bytes / 2 + sizes.reduce((sum, size) => sum + size, 0)
  }

  /** Returns how many blocks to remove, one at least if there are any. @param left blocks that must be removed */
  blocksToUnwind(left: number): number {
    return Math.min(left, this.#toUnwind)
  }

  /**
   * Adds the time in which a transaction removed blocks. Their contents are on the disk, so the number of blocks is all that is known of their size.
   * @param isLast the next reorg begins with one block again: its blocks may be larger
   */
  unwound(ms: number, blocks: number, isLast: boolean): void {
    const fitting = Math.floor((blocks * Math.min(mostUnwindMs, this.#sliceMs)) / Math.max(ms, 1))
    this.#toUnwind = isLast ? 1 : Math.max(1, Math.min(2 * blocks, fitting))
  }
}
