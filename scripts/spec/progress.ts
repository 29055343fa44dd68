const everyMs = 15_000

/** Prints progress, rate and remaining time of a run at intervals, until disposed. */
export class Progress implements Disposable {
  readonly #totalCases: number
  readonly #totalWork: number
  readonly #startMs: number = performance.now()
  readonly #timer: NodeJS.Timeout
  #cases = 0
  #work = 0

  /** @param totalWork in any unit; the estimate of the remaining time uses it */
  constructor(totalCases: number, totalWork: number, print: (line: string) => void) {
    this.#totalCases = totalCases
    this.#totalWork = totalWork
    this.#timer = setInterval(() => print(this.#line()), everyMs)
  }

  done(cases: number, work: number): void {
    this.#cases += cases
    this.#work += work
  }

  total(): string {
    return `${this.#cases} cases in ${Math.round(this.#seconds())} s, ${Math.round(this.#rate())}/s`
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #seconds(): number {
    return (performance.now() - this.#startMs) / 1000
  }

  #rate(): number {
    return this.#cases / Math.max(this.#seconds(), 0.001)
  }

  #line(): string {
    // The totals are estimates.
    const left =
      this.#work === 0
        ? 'the slowest first'
        : `${Math.max(1, Math.ceil(((this.#totalWork - this.#work) / this.#work) * this.#seconds()))} s left`
    return `${this.#cases} of ${this.#totalCases} cases, ${Math.round(this.#rate())}/s, ${left}`
  }
}
