/** How long an endpoint takes for one kind of question. */
export interface Latency {
  add(ms: number): void
  /** After this long without an answer something is unusual. */
  readonly unusualMs: number
}

/** Before anything is known; and the bounds of what is learned. */
const unknownMs = 2_000
const leastMs = 100
const mostMs = 8_000

/**
 * A moving mean and its mean deviation, weighted as TCP does for its retransmission time.
 * @see RFC 6298, section 2
 */
export function createLatency(): Latency {
  let mean: number | undefined
  let deviation = 0
  return {
    add(ms): void {
      deviation = mean === undefined ? ms / 2 : 0.75 * deviation + 0.25 * Math.abs(mean - ms)
      mean = mean === undefined ? ms : 0.875 * mean + 0.125 * ms
    },
    get unusualMs(): number {
      return mean === undefined ? unknownMs : Math.min(mostMs, Math.max(leastMs, mean + 4 * deviation))
    },
  }
}
