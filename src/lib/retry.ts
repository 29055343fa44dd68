import type { Clock } from './clock.ts'
import { Fault } from './fault.ts'

/** Chance as a capability: a number in [0, 1). */
export type Random = () => number
export const systemRandom: Random = Math.random

/** Waits between tries: `baseMs`, doubled each time up to `maxMs`, each less a random part of up to `jitter` (0 to 1) of itself. */
export type Backoff = { readonly baseMs: number; readonly maxMs: number; readonly jitter: number }

export const defaultBackoff: Backoff = { baseMs: 250, maxMs: 10_000, jitter: 0.5 }

/** The wait after the nth failed try (1 is the first), in ms. Pure. */
export function backoffMs(backoff: Backoff, failures: number, chance: number): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(full * (1 - backoff.jitter * chance))
}

/** What the failed side asks us to wait at least (`retryAfterMs` in the data of a Fault, from `Retry-After`); 0 when it says nothing. */
export function askedWaitMs(error: unknown): number {
  if (!(error instanceof Fault)) return 0
  const { retryAfterMs } = error.data
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0
}

/** Worth another try: a Fault of severity 'retry'. */
export function isRetryable(error: unknown): error is Fault {
  return error instanceof Fault && error.severity === 'retry'
}

export type FailedTry = { readonly failures: number; readonly delayMs: number; readonly error: unknown }

export type RetryOptions = {
  readonly backoff: Backoff
  readonly signal: AbortSignal
  /** undefined: without end, until the signal is aborted */
  readonly maxTries?: number
  /** default: `isRetryable` */
  readonly shouldRetry?: (error: unknown) => boolean
  /** before each wait */
  readonly onFailure?: (failed: FailedTry) => void | Promise<void>
}

/**
 * Runs until it succeeds, with growing waits between.
 * @throws the last error, when it is not worth another try or the tries are used up; the signal's reason when it is aborted
 */
export async function retry<T>(
  deps: { readonly clock: Clock; readonly random: Random },
  options: RetryOptions,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { backoff, signal, maxTries = Number.POSITIVE_INFINITY, shouldRetry = isRetryable, onFailure } = options
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    try {
      return await run(signal)
    } catch (error) {
      signal.throwIfAborted()
      if (failures >= maxTries || !shouldRetry(error)) throw error
      const delayMs = Math.max(backoffMs(backoff, failures, deps.random()), askedWaitMs(error))
      await onFailure?.({ failures, delayMs, error })
      await deps.clock.delay(delayMs, signal)
    }
  }
}
