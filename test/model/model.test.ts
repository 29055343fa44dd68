import { expect, it } from 'vitest'
import { describe, runSteps, showSteps, stepsOf } from './runSeed.ts'

/** Seeds with the forks canyon, isthmus and jovian; the last one commits by bounds and forgets side blocks. */
const seeds = [13, 17, 2]

it.each(seeds)(
  'blockchain/execution: agrees with a plain model after each of 200 random steps (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const steps = stepsOf(seed, 200)
    const { failure, counts } = await runSteps(seed, steps)
    const shown = failure && `${describe(failure.error)}\n--seed ${seed} --replay '${showSteps(steps.slice(0, failure.step + 1))}'`
    expect(shown).toBeUndefined()
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  },
)
