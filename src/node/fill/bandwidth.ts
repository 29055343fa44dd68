import type { Clock } from '#lib/clock'

/** Unused time that counts for later bytes. */
const savedMs = 1_000

/** Returns a limit of bytes in a second: a function that waits until so many bytes are due. */
export function createBandwidth(clock: Clock, bytesPerSec: number): (bytes: number, signal: AbortSignal) => Promise<void> {
  /** time at which all bytes so far are due */
  let dueMs = clock.elapsedMs()
  return async (bytes, signal) => {
    const nowMs = clock.elapsedMs()
    dueMs = Math.max(dueMs, nowMs - savedMs) + (1_000 * bytes) / bytesPerSec
    if (dueMs > nowMs) await clock.delay(dueMs - nowMs, signal)
  }
}
