import type { ExecutedBlock } from '#block/execution/executedBlock'

/** What a transaction costs before one was measured, and at least: 52 Mgas of transfers and swaps are some 3 MB and 57 ms. */
const firstGuess = { ms: 20, bytes: 2 ** 20 }
const leastMsPerByte = 2 / 2 ** 20

/** How many blocks a transaction may have, so that it takes no longer than the caller wants; learnt from those before. */
export class CommitPace {
  readonly #sliceMs: number
  #ms: number = firstGuess.ms
  #bytes: number = firstGuess.bytes

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** At least one, if there are any. @param sizeOf bytes of a block in memory: what is written grows with them */
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

  /** Older transactions count for half as much with each one. */
  took(ms: number, sizes: readonly number[]): void {
    if (sizes.length === 0) return
    this.#ms = this.#ms / 2 + Math.max(0, ms)
    this.#bytes = this.#bytes / 2 + sizes.reduce((sum, size) => sum + size, 0)
  }
}
