export type TrendOptions = {
  /** span of the samples that the rate is computed from */
  readonly windowMs: number
  /** least span of samples for a forecast */
  readonly leastMs: number
  /** samples at shorter intervals are dropped: it bounds the memory */
  readonly everyMs: number
}

/** Samples of a falling value, for a linear forecast of the time until it reaches its floor. */
export class Trend {
  readonly #options: TrendOptions
  readonly #samples: { readonly ms: number; readonly value: number }[] = []

  constructor(options: TrendOptions) {
    this.#options = options
  }

  /** @param ms of a clock that does not jump */
  add(ms: number, value: number): void {
    const { windowMs, everyMs } = this.#options
    const samples = this.#samples
    const last = samples.at(-1)
    if (last && ms - last.ms < everyMs) return
    samples.push({ ms, value })
    while (samples.length > 1 && ms - (samples[0]?.ms ?? ms) > windowMs) samples.shift()
  }

  /** Returns the seconds until the value falls to `floor`; Infinity: it does not fall; undefined: too few samples for a forecast. */
  secondsTo(floor: number): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (first === undefined || last === undefined) return undefined
    if (last.value <= floor) return 0
    if (last.ms - first.ms < this.#options.leastMs) return undefined
    const fallPerMs = (first.value - last.value) / (last.ms - first.ms)
    return fallPerMs <= 0 ? Number.POSITIVE_INFINITY : (last.value - floor) / fallPerMs / 1_000
  }
}
