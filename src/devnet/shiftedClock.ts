import type { Clock } from '#lib/clock'

/**
 * A clock whose wall time is shifted; durations and timers are the same. A devnet that stood for a day goes on where it stopped, as if no time had
 * passed, for its L1 could not have mined in between.
 * @param shiftMs negative: into the past
 */
export function shiftedClock(clock: Clock, shiftMs: number): Clock {
  return {
    nowMs: () => clock.nowMs() + shiftMs,
    elapsedMs: () => clock.elapsedMs(),
    delay: (ms, signal) => clock.delay(ms, signal),
    after: (ms, run) => clock.after(ms, run),
  }
}
