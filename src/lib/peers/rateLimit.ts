import type { Clock } from '../clock.ts'

/** Token bucket: `perSec` on average, `burst` at once. */
export class RateLimit {
  readonly #clock: Clock
  readonly #perSec: number
  readonly #burst: number
  #tokens: number
  #atMs: number

  constructor(clock: Clock, perSec: number, burst: number) {
    this.#clock = clock
    this.#perSec = perSec
    this.#burst = burst
    this.#tokens = burst
    this.#atMs = clock.elapsedMs()
  }

  /** Takes a token that is there now or later. @returns the wait in milliseconds until it is there */
  take(): number {
    const nowMs = this.#clock.elapsedMs()
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) * this.#perSec) / 1_000)
    this.#atMs = nowMs
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1_000) / this.#perSec
  }

  /** Returns a token that was taken and not used. */
  giveBack(): void {
    this.#tokens += 1
  }

  /** Returns whether the bucket is full, as at its start. */
  get isFull(): boolean {
    return this.#tokens + ((this.#clock.elapsedMs() - this.#atMs) * this.#perSec) / 1_000 >= this.#burst
  }
}
