const [firstMs, leastMs, spareMs, remembered] = [50, 20, 10, 8]

/** Time before a block's timestamp at which its seal begins: a little longer than each of the last seals took, at most half the block time. */
export class SealMargin {
  readonly #mostMs: number
  #lastMs: readonly number[] = []

  constructor(blockMs: number) {
    this.#mostMs = blockMs / 2
  }

  get ms(): number {
    const wanted = this.#lastMs.length === 0 ? firstMs : Math.max(leastMs, ...this.#lastMs) + spareMs
    return Math.min(this.#mostMs, wanted)
  }

  /** Records the duration of a seal. */
  took(ms: number): void {
    this.#lastMs = [...this.#lastMs, ms].slice(-remembered)
  }
}
