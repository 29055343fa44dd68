const everyMs = 15_000

/** Says now and then how far a run has come, at which rate, and how much time it still needs, until it is disposed of. */
export class Progress implements Disposable {
  readonly #totalCases: number
  readonly #startMs: number = performance.now()
  readonly #timer: NodeJS.Timeout
  #cases = 0

  constructor(totalCases: number, print: (line: string) => void) {
    this.#totalCases = totalCases
    this.#timer = setInterval(() => print(this.#line()), everyMs)
  }

  done(cases: number): void {
    this.#cases += cases
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
    const left = this.#cases === 0 ? 'the slowest first' : `${Math.ceil((this.#totalCases - this.#cases) / this.#rate())} s left`
    return `${this.#cases} of ${this.#totalCases} cases, ${Math.round(this.#rate())}/s, ${left}`
  }
}
