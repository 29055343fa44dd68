/** Flashblocks that come closer together belong to one moment. */
const leastGapMs = 40
/** Longer pauses are none of the rhythm. */
const mostGapMs = 1_000
/** What has not begun so long before the next flashblock waits for it. */
const guardMs = 60
/** So late it is not waited for any more. */
const lateMs = 20

/** When flashblocks come, so that what can wait is not under way when the next one does. */
export class FlashblockInterval {
  #lastMs: number | undefined
  #everyMs: number | undefined

  /** @param nowMs of a clock that does not jump */
  came(nowMs: number): void {
    const gapMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs
    if (gapMs >= leastGapMs) this.#everyMs = gapMs <= mostGapMs ? gapMs : undefined
    this.#lastMs = nowMs
  }

  /** Milliseconds to wait with something that takes a while; 0: there is time now, or nobody knows when the next flashblock comes. */
  waitMs(nowMs: number): number {
    if (this.#lastMs === undefined || this.#everyMs === undefined) return 0
    const leftMs = this.#lastMs + this.#everyMs - nowMs
    return leftMs > guardMs || leftMs < -lateMs || this.#everyMs <= guardMs ? 0 : leftMs + lateMs
  }
}
