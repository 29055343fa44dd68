import type { Clock } from '#lib/clock'

/** How many calls one endpoint may be sent. */
export interface Budget {
  /** Whether so many could be sent now. */
  has(count: number): boolean
  /** Resolves when so many may be sent, in the order of the calls; rejects with the signal's reason. */
  take(count: number, signal: AbortSignal): Promise<void>
}

const windowMs = 1_000

const unlimited: Budget = { has: () => true, take: () => Promise.resolve() }

/** @param perSecond at most so many in any second, 1 or more; undefined: no limit. A request of more calls than that is sent by itself. */
export function createBudget(clock: Clock, perSecond: number | undefined): Budget {
  if (perSecond === undefined) return unlimited
  const limit = perSecond
  /** when each of the last calls is sent, oldest first */
  let sentMs: number[] = []

  /** When the last of so many more could be sent. */
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
