import { expect, it } from 'vitest'
import { createLoopLagMeter } from './loopLag.ts'

/** Until the loop has gone round a few times, timers of 10 ms among them. */
const rounds = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 60))

it('lib/loopLag: nothing measured is no lag; a loop that was held up shows how long; each look begins anew', async () => {
  using meter = createLoopLagMeter()
  expect(meter.read()).toEqual({ medianSec: 0, p99Sec: 0, maxSec: 0 })
  meter.read()
  await rounds() // the first timer after a look is where measuring begins
  const until = performance.now() + 200
  while (performance.now() < until);
  await rounds()
  const held = meter.read()
  expect(held.maxSec).toBeGreaterThan(0.15)
  expect(held.p99Sec).toBeLessThanOrEqual(held.maxSec + 0.001)
  await rounds()
  expect(meter.read().maxSec).toBeLessThan(held.maxSec)
})
