import { expect, it } from 'vitest'
import { createManualClock, settle } from '#test/harness/clock'
import { defineFaults } from './fault.ts'
import { backoffMs, type FailedTry, retry } from './retry.ts'

const fault = defineFaults({
  BUSY: { severity: 'retry', says: (_: { retryAfterMs?: number }) => 'busy', fix: 'wait' },
  BROKEN: { severity: 'fatal', says: (_: Record<never, never>) => 'broken', fix: 'repair' },
})
const backoff = { baseMs: 100, maxMs: 1_000, jitter: 0.5 }

it.each([
  [1, 0, 100],
  [2, 0, 200],
  [4, 0, 800],
  [5, 0, 1_000],
  [500, 0, 1_000],
  [1, 1, 50],
  [5, 0.5, 750],
])('lib/retry: after %i failures with random value %d the wait is %i ms', (failures, chance, ms) => {
  expect(backoffMs(backoff, failures, chance)).toBe(ms)
})

/** Returns a function that throws each error in turn, then succeeds. */
function failing(...errors: readonly unknown[]): () => Promise<string> {
  const left = [...errors]
  return async () => {
    if (left.length > 0) throw left.shift()
    return 'done'
  }
}

it('lib/retry: retries after growing waits, at least as long as the server requests', async () => {
  const clock = createManualClock()
  const failures: FailedTry[] = []
  const { signal } = new AbortController()
  const run = failing(fault('BUSY', {}), fault('BUSY', { retryAfterMs: 5_000 }), fault('BUSY', {}))
  const done = retry({ clock, random: () => 0 }, { backoff, signal, onFailure: (failed) => void failures.push(failed) }, run)
  while (await clock.advanceToNext()) {}
  expect(await done).toBe('done')
  expect(failures.map((failed) => failed.delayMs)).toEqual([100, 5_000, 400])
})

it('lib/retry: rethrows an error of another severity, and the error of the last try', async () => {
  const clock = createManualClock()
  const { signal } = new AbortController()
  await expect(retry({ clock, random: () => 0 }, { backoff, signal }, failing(fault('BROKEN', {})))).rejects.toMatchObject({
    code: 'BROKEN',
  })
  await expect(retry({ clock, random: () => 0 }, { backoff, signal, maxTries: 1 }, failing(fault('BUSY', {})))).rejects.toMatchObject({
    code: 'BUSY',
  })
})

it('lib/retry: an abort ends the wait with the reason of the signal', async () => {
  const clock = createManualClock()
  const control = new AbortController()
  const done = retry({ clock, random: () => 0 }, { backoff, signal: control.signal }, failing(fault('BUSY', {}), fault('BUSY', {})))
  const outcome = expect(done).rejects.toBe('enough')
  await settle()
  control.abort('enough')
  await outcome
  expect(clock.waiting).toBe(0)
})
