const [firstMs, leastMs, spareMs, remembered] = [50, 20, 10, 8]

/** How long before a block's time its sealing begins: a little longer than any of the last ones lasted, at most half of a block's time. */
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

  /** A sealing has lasted so long. */
  took(ms: number): void {
    this.#lastMs = [...this.#lastMs, ms].slice(-remembered)
  }
}
