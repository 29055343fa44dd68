import type { Clock } from '#lib/clock'

type Timer = { readonly atMs: number; readonly run: () => void }

export type ManualClock = Clock & {
  /** Moves time and runs what falls due, in order, letting promises settle in between. */
  advanceMs(ms: number): Promise<void>
  /** Moves time to the next timer; false when nothing waits. */
  advanceToNext(): Promise<boolean>
  /** Sets the wall clock forwards or back; what waits, waits on. */
  jumpMs(ms: number): void
  /** How many timers wait. */
  readonly waiting: number
}

/** Lets everything that can go on without a timer go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A clock that stands still until it is told to move. */
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
