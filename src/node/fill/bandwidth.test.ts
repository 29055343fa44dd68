import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { createBandwidth } from './bandwidth.ts'

const { signal } = new AbortController()

it('node/bandwidth: delays bytes to the limit, and saves the time of a pause for a second only', async () => {
  const clock = createManualClock()
  const pace = createBandwidth(clock, 1_000)
  const paced = async (bytes: number): Promise<number> => {
    const startMs = clock.elapsedMs()
    let isDone = false
    const waiting = pace(bytes, signal).then(() => {
      isDone = true
    })
    await clock.advanceMs(0)
    while (!isDone) await clock.advanceMs(100)
    await waiting
    return clock.elapsedMs() - startMs
  }
  expect([await paced(500), await paced(2_000), await paced(100)]).toEqual([500, 2_000, 100])
  await clock.advanceMs(60_000)
  expect([await paced(1_000), await paced(1_000)]).toEqual([0, 1_000])
})

it('node/bandwidth: ends a wait when the signal is aborted', async () => {
  const clock = createManualClock()
  const stop = new AbortController()
  const waiting = createBandwidth(clock, 1)(1_000, stop.signal)
  stop.abort(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
  expect(clock.waiting).toBe(0)
})
