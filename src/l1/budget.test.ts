import { expect, it } from 'vitest'
import { createManualClock, settle } from '#test/harness/clock'
import { createBudget } from './budget.ts'

const { signal } = new AbortController()

it.each([
  [1, [1, 1, 1]],
  [5, [1, 1, 2, 2, 1, 3, 1, 1, 1, 2, 2, 1, 5, 1, 4]],
  [3, [2, 2, 2, 2, 7, 1, 2]],
])('l1/budget: sends at most %i calls in any second, in the order of the requests', async (perSecond, counts) => {
  const clock = createManualClock()
  const budget = createBudget(clock, perSecond)
  const sent: { readonly atMs: number; readonly i: number }[] = []
  counts.forEach((count, i) => {
    void budget.take(count, signal).then(() => {
      for (let n = 0; n < count; n++) sent.push({ atMs: clock.elapsedMs(), i })
    })
  })
  const all = counts.reduce((a, b) => a + b, 0)
  for (let ms = 0; sent.length < all && ms < 60_000; ms += 100) await clock.advanceMs(100)
  expect(sent.map(({ i }) => i)).toEqual(counts.flatMap((count, i) => Array.from({ length: count }, () => i)))
  const largest = Math.max(perSecond, ...counts)
  for (const { atMs } of sent) {
    expect(sent.filter((other) => other.atMs >= atMs && other.atMs < atMs + 1_000).length).toBeLessThanOrEqual(largest)
  }
  // the total time is the minimum
  expect(sent.at(-1)?.atMs).toBeLessThanOrEqual(Math.ceil(all / perSecond) * 2_000)
})

it('l1/budget: a pause restores the whole budget; an aborted wait rejects', async () => {
  const clock = createManualClock()
  const budget = createBudget(clock, 2)
  expect(budget.has(1)).toBe(true)
  await budget.take(2, signal)
  expect(budget.has(1)).toBe(false)
  const abort = new AbortController()
  const waiting = budget.take(1, abort.signal).catch((error: unknown) => error)
  abort.abort(new Error('enough'))
  expect(await waiting).toMatchObject({ message: 'enough' })
  await clock.advanceMs(2_000)
  expect(budget.has(2)).toBe(true)
  let isSent = false
  void budget.take(2, signal).then(() => {
    isSent = true
  })
  await settle()
  expect(isSent).toBe(true)
})
