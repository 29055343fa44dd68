/** Shortest time between two kept samples, and the time that they cover. */
const [everyMs, windowMs] = [1_000, 60_000]

/** Rate of the fill in the last minute, by samples of its progress. */
export class FillRate {
  readonly #samples: { readonly ms: number; readonly ratio: number; readonly leaves: number }[] = []

  add(ms: number, ratio: number, leaves: number): void {
    const last = this.#samples.at(-1)
    if (last && ms - last.ms < everyMs) return
    this.#samples.push({ ms, ratio, leaves })
    while (this.#samples.length > 2 && ms - (this.#samples[0]?.ms ?? ms) > windowMs) this.#samples.shift()
  }

  /** Leaves in a second. */
  get leavesPerSec(): number {
    const [sec, first, last] = this.#ends()
    return sec === 0 ? 0 : (last.leaves - first.leaves) / sec
  }

  /** Seconds until all keys are walked; Infinity: no progress; undefined: not known yet. */
  get leftSec(): number | undefined {
    const [sec, first, last] = this.#ends()
    if (sec === 0) return undefined
    const ratioPerSec = (last.ratio - first.ratio) / sec
    return ratioPerSec > 0 ? (1 - last.ratio) / ratioPerSec : Number.POSITIVE_INFINITY
  }

  #ends(): [number, { readonly ratio: number; readonly leaves: number }, { readonly ratio: number; readonly leaves: number }] {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    const none = { ratio: 0, leaves: 0 }
    return first && last ? [(last.ms - first.ms) / 1_000, first, last] : [0, none, none]
  }
}
