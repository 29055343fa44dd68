import { type Backoff, backoffMs } from '#lib/retry'

/** Response times from which the 95th percentile is taken, and the fewest for it. */
const [remembered, fewest] = [64, 8]
/** Value before that, and the bounds of the learned value. */
const [unknownMs, leastMs, mostMs] = [500, 20, 2_000]
/** Pause after the first, second, … failure in a row. */
const pause: Backoff = { baseMs: 250, maxMs: 10_000, jitter: 0 }

/** Recent response times of one kind of request. */
export class ResponseTimes {
  readonly #times: number[] = []
  #next = 0

  add(ms: number): void {
    this.#times[this.#next++ % remembered] = ms
  }

  get medianMs(): number {
    return this.#at(0.5) ?? unknownMs
  }

  /** 95th percentile: a request without a response after this time is unusually slow. */
  get slowMs(): number {
    const ms = this.#times.length < fewest ? unknownMs : (this.#at(0.95) ?? unknownMs)
    return Math.min(mostMs, Math.max(leastMs, ms))
  }

  #at(share: number): number | undefined {
    return this.#times.toSorted((a, b) => a - b)[Math.floor(share * this.#times.length)]
  }
}

/** Failures of one source. */
export class SourceHealth {
  #failures = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  /** Returns the time until the source may be asked. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs)
  }

  answered(): void {
    this.#failures = 0
  }

  /** Pauses the source. @param leastMs pause that it asked for @returns whether it was in use */
  failed(nowMs: number, leastMs: number): boolean {
    if (this.waitMs(nowMs) > 0) return false
    this.#failures++
    this.#pausedUntilMs = nowMs + Math.max(leastMs, backoffMs(pause, this.#failures, 0))
    return true
  }
}
