/** Flashblocks with a shorter gap count as one arrival, in milliseconds. */
const leastGapMs = 40
/** Gaps longer than this are pauses and do not set the interval, in milliseconds. */
const mostGapMs = 1_000
/** Work does not begin within this time before the next flashblock, in milliseconds. */
const guardMs = 60
/** An overdue flashblock is waited for this long, in milliseconds. */
const lateMs = 20

/** Predicts the next flashblock, so that work which can wait does not delay its execution. */
export class FlashblockInterval {
  #lastMs: number | undefined
  #everyMs: number | undefined

  /** Records the arrival of a flashblock. @param nowMs time of a monotonic clock */
  came(nowMs: number): void {
    const gapMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs
    if (gapMs >= leastGapMs) this.#everyMs = gapMs <= mostGapMs ? gapMs : undefined
    this.#lastMs = nowMs
  }

  /** Returns how long to delay work, in milliseconds; 0 when there is time now or the next arrival cannot be predicted. */
  waitMs(nowMs: number): number {
    if (this.#lastMs === undefined || this.#everyMs === undefined) return 0
    const leftMs = this.#lastMs + this.#everyMs - nowMs
    return leftMs > guardMs || leftMs < -lateMs || this.#everyMs <= guardMs ? 0 : leftMs + lateMs
  }
}
