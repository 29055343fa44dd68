const [firstMs, leastMs, spareMs, remembered] = [50, 20, 10, 8]

/** Time before a block's due time at which its seal begins: a little longer than each of the last seals took, at most half the block time. */
export class SealMargin {
  #lastMs: readonly number[] = []

  /** @param blockMs time between the parent and the block */
  ms(blockMs: number): number {
    const wanted = this.#lastMs.length === 0 ? firstMs : Math.max(leastMs, ...this.#lastMs) + spareMs
    return Math.min(blockMs / 2, wanted)
  }

  /** Records the duration of a seal. */
  took(ms: number): void {
    this.#lastMs = [...this.#lastMs, ms].slice(-remembered)
  }
}
