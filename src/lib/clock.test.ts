import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from './clock.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const dayMs = 86_400_000

it('lib/clock: nowMs returns the wall clock in milliseconds', () => {
  vi.setSystemTime(1_700_000_000_123)
  expect(systemClock.nowMs()).toBe(1_700_000_000_123)
})

it('lib/clock: elapsedMs does not decrease when the wall clock is set back', () => {
  const before = systemClock.elapsedMs()
  vi.setSystemTime(0)
  expect(systemClock.elapsedMs()).toBeGreaterThanOrEqual(before)
})

it('lib/clock: delay resolves after the requested time and leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  const remove = vi.spyOn(signal, 'removeEventListener')
  let isOver = false
  const delay = systemClock.delay(50, signal).then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(49)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isOver).toBe(true)
  await delay
  expect(remove).toHaveBeenCalledOnce()
})

it("lib/clock: delay rejects at once with the signal's reason when aborted before or during the wait", async () => {
  const reason = new Error('stop')
  await expect(systemClock.delay(dayMs, AbortSignal.abort(reason))).rejects.toBe(reason)
  const control = new AbortController()
  const delay = systemClock.delay(dayMs, control.signal)
  control.abort(reason)
  await expect(delay).rejects.toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
})

it('lib/clock: after calls back once, and never after disposal', async () => {
  const run = vi.fn()
  const timer = systemClock.after(20, run)
  {
    using _never = systemClock.after(10, run)
  }
  await vi.advanceTimersByTimeAsync(19)
  expect(run).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(dayMs)
  expect(run).toHaveBeenCalledOnce()
  timer[Symbol.dispose]()
})

it('lib/clock: after does not keep the process alive, delay does', async () => {
  vi.useRealTimers()
  const alive = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = alive()
  using _timer = systemClock.after(dayMs, () => {})
  expect(alive()).toBe(before)
  const control = new AbortController()
  const delay = systemClock.delay(dayMs, control.signal)
  expect(alive()).toBe(before + 1)
  control.abort()
  await expect(delay).rejects.toThrow()
})

it('lib/clock: delay and after work beyond the 24.8 days that a platform timer can hold', async () => {
  let isOver = false
  const run = vi.fn()
  const delay = systemClock.delay(40 * dayMs).then(() => {
    isOver = true
  })
  using _timer = systemClock.after(40 * dayMs, run)
  await vi.advanceTimersByTimeAsync(39 * dayMs)
  expect([isOver, run.mock.calls.length]).toEqual([false, 0])
  await vi.advanceTimersByTimeAsync(dayMs)
  await delay
  expect([isOver, run.mock.calls.length]).toEqual([true, 1])
})

it('lib/clock: a wait beyond the timer limit ends at once when aborted or disposed', async () => {
  const control = new AbortController()
  const run = vi.fn()
  const delay = systemClock.delay(60 * dayMs, control.signal)
  const ended = expect(delay).rejects.toThrow('stop')
  const timer = systemClock.after(60 * dayMs, run)
  await vi.advanceTimersByTimeAsync(30 * dayMs)
  control.abort(new Error('stop'))
  timer[Symbol.dispose]()
  await ended
  expect(vi.getTimerCount()).toBe(0)
})
