import type { Clock } from '#lib/clock'

type Timer = { readonly atMs: number; readonly run: () => void }

export type ManualClock = Clock & {
  /** Moves time and runs the timers that are due, in order; promises settle after each. */
  advanceMs(ms: number): Promise<void>
  /** Moves time to the next timer and runs it. Returns false when no timer is set. */
  advanceToNext(): Promise<boolean>
  /** Moves the wall clock forwards or backwards; timers keep their remaining time. */
  jumpMs(ms: number): void
  /** Number of timers that are set. */
  readonly waiting: number
}

/** Waits until pending callbacks and promises that need no timer have run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Clock whose time changes only by the calls above. */
export function createManualClock(startMs = 1_700_000_000_000): ManualClock {
  let elapsedMs = 0
  let wallMs = startMs
  const timers = new Set<Timer>()

  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) if (!first || timer.atMs < first.atMs) first = timer
    return first
  }
  const fire = async (timer: Timer): Promise<void> => {
    timers.delete(timer)
    elapsedMs = Math.max(elapsedMs, timer.atMs)
    timer.run()
    await settle()
  }

  return {
    nowMs: () => wallMs + elapsedMs,
    elapsedMs: () => elapsedMs,
    jumpMs: (ms) => {
      wallMs += ms
    },
    delay(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = (): void => {
          timers.delete(timer)
          reject(signal?.reason)
        }
        const timer: Timer = {
          atMs: elapsedMs + ms,
          run: () => {
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
        }
        timers.add(timer)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    after(ms, run) {
      const timer: Timer = { atMs: elapsedMs + ms, run }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    async advanceMs(ms) {
      const untilMs = elapsedMs + ms
      await settle()
      for (let timer = next(); timer && timer.atMs <= untilMs; timer = next()) await fire(timer)
      elapsedMs = untilMs
    },
    async advanceToNext() {
      await settle()
      const timer = next()
      if (timer) await fire(timer)
      return timer !== undefined
    },
    get waiting() {
      return timers.size
    },
  }
}
