import type { Clock } from './clock.ts'
import { Fault } from './fault.ts'

/** Randomness as a capability: returns a number in [0, 1). */
export type Random = () => number

/** Waits between tries: `baseMs`, doubled after each failure up to `maxMs`, minus a random part of at most the fraction `jitter` (0 to 1). */
export type Backoff = { readonly baseMs: number; readonly maxMs: number; readonly jitter: number }

export const defaultBackoff: Backoff = { baseMs: 250, maxMs: 10_000, jitter: 0.5 }

/** Returns the wait after the nth failed try (1 is the first), in ms. Pure. */
export function backoffMs(backoff: Backoff, failures: number, chance: number): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(full * (1 - backoff.jitter * chance))
}

/** Returns the minimum wait in ms that the failed side requested (`retryAfterMs` in a Fault's data, from `Retry-After`); 0 without a request. */
export function askedWaitMs(error: unknown): number {
  if (!(error instanceof Fault)) return 0
  const { retryAfterMs } = error.data
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0
}

/** Returns whether a retry may succeed: a Fault of severity 'retry'. */
export function isRetryable(error: unknown): error is Fault {
  return error instanceof Fault && error.severity === 'retry'
}

export type FailedTry = { readonly failures: number; readonly delayMs: number; readonly error: unknown }

export type RetryOptions = {
  readonly backoff: Backoff
  readonly signal: AbortSignal
  /** undefined: unlimited, until the signal is aborted. */
  readonly maxTries?: number
  /** Default: `isRetryable`. */
  readonly shouldRetry?: (error: unknown) => boolean
  /** Called before each wait. */
  readonly onFailure?: (failed: FailedTry) => void | Promise<void>
}

/**
 * Calls `run` until it succeeds, with growing waits in between.
 * @throws the last error when it is not retryable or `maxTries` is reached; the signal's reason when it is aborted
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
