import type { Clock } from '#lib/clock'

/** Time at which a block is sealed, as a signal for the engine. */
export interface SealTime extends Disposable {
  /** aborted at that time, or when the block is no longer needed */
  readonly signal: AbortSignal
  /** in elapsed time */
  readonly atMs: number
  /** Resolves at that time, also for a block that was full before. @throws the signal's reason when it is aborted first */
  reached(signal: AbortSignal): Promise<void>
}

/** @param inVain aborted when the block is no longer needed */
export function createSealTime(clock: Clock, inMs: number, inVain: AbortSignal): SealTime {
  const atMs = clock.elapsedMs() + inMs
  const control = new AbortController()
  const end = (): void => control.abort()
  const timer = clock.after(inMs, end)
  inVain.addEventListener('abort', end, { once: true })
  return {
    atMs,
    signal: control.signal,
    async reached(signal): Promise<void> {
      if (clock.elapsedMs() < atMs) await clock.delay(Math.max(0, atMs - clock.elapsedMs()), signal)
    },
    [Symbol.dispose](): void {
      timer[Symbol.dispose]()
    },
  }
}
