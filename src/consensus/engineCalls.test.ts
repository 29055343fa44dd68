import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { Engine } from '#engine/port'
import { silentLog } from '#lib/log'
import { defaultBackoff } from '#lib/retry'
import { createManualClock } from '#test/harness/clock'
import { EngineCalls } from './engineCalls.ts'
import { consensusMetrics } from './metrics.ts'
import { Waits } from './waits.ts'

const { signal } = new AbortController()

/** Calls of an engine whose answer the test resolves. */
function silentEngine() {
  const clock = createManualClock()
  const metrics = consensusMetrics.register(new Registry())
  const waits = new Waits({ clock, log: silentLog, metrics })
  const answer = Promise.withResolvers<string>()
  const calls = new EngineCalls({ engine: {} as Engine, clock, random: () => 0, log: silentLog, metrics, waits }, defaultBackoff)
  return { clock, waits, calls, answer }
}

it('consensus/engineCalls: an unanswered call is a wait that becomes overdue; the answer ends it', async () => {
  const { clock, waits, calls, answer } = silentEngine()
  const called = calls.write(signal, () => answer.promise)
  await clock.advanceMs(900)
  expect(waits.current).toEqual([])
  await clock.advanceMs(5_000)
  expect(waits.current).toMatchObject([{ reason: 'engine', failures: 0, isOverdue: false }])
  await clock.advanceMs(30_000)
  expect(waits.current).toMatchObject([{ reason: 'engine', isOverdue: true }])
  answer.resolve('at last')
  expect(await called).toBe('at last')
  expect(waits.current).toEqual([])
  expect(clock.waiting).toBe(0)
})

it('consensus/engineCalls: a call with a fast answer is not a wait', async () => {
  const { clock, waits, calls, answer } = silentEngine()
  const called = calls.read(signal, () => answer.promise)
  await clock.advanceMs(500)
  answer.resolve('soon')
  await called
  await clock.advanceMs(60_000)
  expect(waits.current).toEqual([])
})

it('consensus/engineCalls: successful reads do not end the wait for an unanswered write', async () => {
  const { clock, waits, calls, answer } = silentEngine()
  const called = calls.write(signal, () => answer.promise)
  await clock.advanceMs(5_000)
  await calls.read(signal, async () => 'at once')
  await clock.advanceMs(30_000)
  expect(waits.current).toMatchObject([{ reason: 'engine', isOverdue: true }])
  answer.resolve('at last')
  await called
  expect(waits.current).toEqual([])
})
