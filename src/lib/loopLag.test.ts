import { expect, it } from 'vitest'
import { createLoopLagMeter } from './loopLag.ts'

/** Waits until the event loop has run several 10 ms timers. */
const rounds = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 60))

it('lib/loopLag: reports 0 before any measurement, and a block of the loop to every reader of this and the next window', async () => {
  using meter = createLoopLagMeter(3)
  expect(meter.read()).toEqual({ medianSec: 0, p99Sec: 0, maxSec: 0 })
  await rounds() // the first timer starts the measurement
  const until = performance.now() + 200
  while (performance.now() < until);
  await rounds()
  const held = meter.read()
  expect(held.maxSec).toBeGreaterThan(0.15)
  expect(held.p99Sec).toBeLessThanOrEqual(held.maxSec + 0.001)
  expect(meter.read().maxSec).toBe(held.maxSec)
  await rounds()
  expect(meter.read().maxSec).toBe(held.maxSec)
  await rounds()
  expect(meter.read().maxSec).toBeLessThan(held.maxSec)
})
