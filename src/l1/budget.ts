import type { Clock } from '#lib/clock'

/** Rate limit of calls to one endpoint. */
export interface Budget {
  /** Returns whether this number of calls can be sent now. */
  has(count: number): boolean
  /** Resolves when this number of calls may be sent, in the order of `take`; rejects with the signal's reason. */
  take(count: number, signal: AbortSignal): Promise<void>
}

const windowMs = 1_000

const unlimited: Budget = { has: () => true, take: () => Promise.resolve() }

/**
 * Creates a rate limit.
 * @param perSecond maximum number of calls in any second, at least 1; undefined: no limit. A request with more calls is sent alone.
 */
export function createBudget(clock: Clock, perSecond: number | undefined): Budget {
  if (perSecond === undefined) return unlimited
  const limit = perSecond
  /** times at which the last calls are sent, oldest first */
  let sentMs: number[] = []

  /** Returns the time at which this number of further calls can be sent. */
  function dueMs(count: number): number {
    const nowMs = clock.elapsedMs()
    const kept = Math.max(0, limit - count)
    const before = sentMs[sentMs.length - 1 - kept]
    return Math.max(nowMs, sentMs.at(-1) ?? nowMs, before === undefined ? nowMs : before + windowMs)
  }

  return {
    has: (count) => dueMs(count) <= clock.elapsedMs(),
    async take(count, signal): Promise<void> {
      const atMs = dueMs(count)
      sentMs = [...sentMs, ...Array.from({ length: Math.min(count, limit) }, () => atMs)].slice(-limit)
      const waitMs = atMs - clock.elapsedMs()
      if (waitMs > 0) await clock.delay(waitMs, signal)
    },
  }
}
