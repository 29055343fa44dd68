import type { Clock } from '#lib/clock'

/** The moment at which a block is to be sealed, as the engine is told of it. */
export interface SealTime extends Disposable {
  /** aborted then, or when the block is in vain */
  readonly signal: AbortSignal
  /** in elapsed time */
  readonly atMs: number
  /** Resolves then, also for a block that was full before. @throws the signal's reason when it is aborted first */
  reached(signal: AbortSignal): Promise<void>
}

/** @param inVain aborted when nobody wants the block any more */
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
