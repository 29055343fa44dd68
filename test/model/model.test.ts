import { expect, it } from 'vitest'
import { describe, runSteps, showSteps, stepsOf } from './runSeed.ts'

/** Seeds with the forks canyon, isthmus and jovian, and their steps; the third commits by bounds and forgets side blocks. */
const seeds = [
  [13, 500],
  [17, 500],
  [20, 500],
  [7, 10_000],
] as const

it.each(seeds)(
  'blockchain/execution: agrees with a plain model after each random step (seed %i, %i steps)',
  { timeout: 600_000 },
  async (seed, count) => {
    const steps = stepsOf(seed, count)
    const { failure, counts } = await runSteps(seed, steps)
    const shown = failure && `${describe(failure.error)}\n--seed ${seed} --replay '${showSteps(steps.slice(0, failure.step + 1))}'`
    expect(shown).toBeUndefined()
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  },
)
