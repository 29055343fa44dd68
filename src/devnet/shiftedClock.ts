import type { Clock } from '#lib/clock'

/**
 * Returns a clock whose wall time is shifted; durations and timers are unchanged. A devnet that was stopped for a day continues where it stopped, as
 * if no time had passed, because its L1 was not mining in between.
 * @param shiftMs negative: into the past
 */
export function shiftedClock(clock: Clock, shiftMs: number): Clock {
  return { ...clock, nowMs: () => clock.nowMs() + shiftMs }
}
