/** Time as a capability: nothing outside this file reads the clock or sets a timer. */
export interface Clock {
  /** Milliseconds since 1970, wall clock. */
  nowMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back after `ms` unless disposed before. Never keeps the process alive. */
  after(ms: number, run: () => void): Disposable
}

export const systemClock: Clock = {
  // biome-ignore lint/style/noRestrictedGlobals: the one reader of the clock
  nowMs: () => Date.now(),
  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      // biome-ignore lint/style/noRestrictedGlobals: the one user of timers
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
  after(ms: number, run: () => void): Disposable {
    // biome-ignore lint/style/noRestrictedGlobals: the one user of timers
    const timer = setTimeout(run, ms)
    timer.unref()
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
