import { expect, it } from 'vitest'
import { differenceOf } from './runSeed.ts'

it('blockchain/execution: agrees with a plain model after each random step (seed 13, 1,000 steps)', { timeout: 120_000 }, async () => {
  const { difference, counts } = await differenceOf(13, 1_000)
  expect(difference).toBeUndefined()
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
})
