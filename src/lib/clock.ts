/** Time as a capability: nothing outside this file reads the clock or sets a timer. */
export interface Clock {
  /** Milliseconds since 1970, wall clock: may jump, forwards and back. */
  nowMs(): number
  /** Milliseconds since some moment that never changes, whatever happens to the wall clock: durations are differences of it. */
  elapsedMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back after `ms` unless disposed before. Never keeps the process alive. */
  after(ms: number, run: () => void): Disposable
}

/** What a timer of the platform can hold; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** A timer of any length. @returns what cancels it */
function startTimer(ms: number, holds: 'process' | 'nothing', run: () => void): () => void {
  const stepMs = Math.min(ms, longestTimerMs)
  let cancelRest: (() => void) | undefined
  // biome-ignore lint/style/noRestrictedGlobals: the one user of timers
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
  // biome-ignore lint/style/noRestrictedGlobals: the one reader of the clock
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
