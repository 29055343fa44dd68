/** Response time of an endpoint for one kind of request. */
export interface Latency {
  add(ms: number): void
  /** A request without a response after this time is unusually slow. */
  readonly unusualMs: number
}

/** Value before the first response, and the bounds of the learned value. */
const unknownMs = 2_000
const leastMs = 100
const mostMs = 8_000

/**
 * Creates a moving mean with its mean deviation, weighted as in TCP's retransmission timer.
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
