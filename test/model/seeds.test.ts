import { expect, it } from 'vitest'
import { differenceOf } from './runSeed.ts'

/** Seeds with the forks isthmus, jovian and isthmus, and their steps; the second commits by bounds and forgets side blocks. */
const seeds = [
  [17, 500],
  [20, 500],
  [7, 10_000],
] as const

it.each(seeds)(
  'blockchain/execution: agrees with a plain model after each random step (seed %i, %i steps)',
  { timeout: 600_000 },
  async (seed, count) => {
    const { difference, counts } = await differenceOf(seed, count)
    expect(difference).toBeUndefined()
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  },
)
