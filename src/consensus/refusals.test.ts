import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import type { Hash } from '#types/ids'
import { Refusals } from './refusals.ts'

it('consensus/refusals: keeps the verdicts of ten minutes of 200 ms blocks', async () => {
  const clock = createManualClock()
  const refusals = new Refusals(clock)
  const hashOf = (index: number): Hash => `0x${index.toString(16).padStart(64, '0')}` as Hash
  for (let index = 0; index < 3_000; index++) refusals.add(hashOf(index), 'invalid')
  expect(refusals.get(hashOf(0))).toBe('invalid')
  await clock.advanceMs(10 * 60_000)
  expect(refusals.get(hashOf(0))).toBeUndefined()
})
