import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { startWatchdog } from './watchdog.ts'

function watched() {
  const clock = createManualClock()
  const asked: PromiseWithResolvers<void>[] = []
  const state = { stuck: 0 }
  const ask = (): Promise<void> => {
    const question = Promise.withResolvers<void>()
    asked.push(question)
    return question.promise
  }
  const watch = startWatchdog(clock, ask, () => state.stuck++)
  return { clock, asked, state, watch }
}

it('node/threads/watchdog: reports once a thread that leaves ten looks unanswered', async () => {
  const { clock, asked, state } = watched()
  await clock.advanceMs(10_999)
  expect([asked.length, state.stuck]).toEqual([1, 0])
  await clock.advanceMs(1)
  expect(state.stuck).toBe(1)
  await clock.advanceMs(60_000)
  expect([asked.length, state.stuck]).toEqual([1, 1])
})

it('node/threads/watchdog: counts from zero again after a late answer', async () => {
  const { clock, asked, state } = watched()
  await clock.advanceMs(10_500)
  asked[0]?.resolve()
  await clock.advanceMs(10_499)
  expect([asked.length, state.stuck]).toEqual([2, 0])
  await clock.advanceMs(1_000)
  expect(state.stuck).toBe(1)
})

it('node/threads/watchdog: makes no call after its end; does not report a thread that is gone', async () => {
  const { clock, asked, state, watch } = watched()
  await clock.advanceMs(1_000)
  asked[0]?.reject(new Error('its thread ended'))
  watch[Symbol.dispose]()
  await clock.advanceMs(60_000)
  expect([asked.length, state.stuck, clock.waiting]).toEqual([1, 0, 0])
})
