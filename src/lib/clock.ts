/** Time as a capability. No other file reads the clock or sets a timer. */
export interface Clock {
  /** Returns milliseconds since 1970 by the wall clock, which may jump in both directions. */
  nowMs(): number
  /** Returns milliseconds since a fixed moment, unaffected by changes of the wall clock. Subtract two values to measure a duration. */
  elapsedMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `run` after `ms` unless disposed before. Never keeps the process alive. */
  after(ms: number, run: () => void): Disposable
}

/** Longest delay that a platform timer can hold; the platform fires a longer one immediately. */
const longestTimerMs = 2 ** 31 - 1

/** Starts a timer of any length. @returns a function that cancels it */
function startTimer(ms: number, holds: 'process' | 'nothing', run: () => void): () => void {
  const stepMs = Math.min(ms, longestTimerMs)
  let cancelRest: (() => void) | undefined
  // biome-ignore lint/style/noRestrictedGlobals: the only user of timers
  const timer = setTimeout(() => {
    if (ms > stepMs) cancelRest = startTimer(ms - stepMs, holds, run)
    else run()
  }, stepMs)
  if (holds === 'nothing') timer.unref()
  return () => {
    clearTimeout(timer)
    cancelRest?.()
  }
}

export const systemClock: Clock = {
  // biome-ignore lint/style/noRestrictedGlobals: the only reader of the clock
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = startTimer(ms, 'process', () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
  after(ms: number, run: () => void): Disposable {
    return { [Symbol.dispose]: startTimer(ms, 'nothing', run) }
  },
}
