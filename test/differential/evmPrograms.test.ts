import { describe, expect, it } from 'vitest'
import { evmForks } from '#chainspec/evmRules'
import { runCase } from '#test/harness/evm/case'
import { interpreters } from '#test/harness/evm/interpreters'
import { sampleOf } from '#test/harness/sample'
import { differenceFromOracle, differenceOfRuns } from '../fuzz/evm/compare.ts'
import { readCorpus } from '../fuzz/evm/corpus.ts'
import { createCoverage } from '../fuzz/evm/coverage.ts'
import { caseOf, isEdgeCase } from '../fuzz/evm/world.ts'

/** Fixed seed, for the same programs in every run; `npm run fuzz:evm` generates new ones. */
const seed = 20_261_122
const worldsOfFork = sampleOf(20, 40)

const corpus = readCorpus('committed')
const evms = interpreters.map(({ name, create }) => ({ name, evm: create() }))
const worlds = Array.from({ length: evmForks.length * worldsOfFork * 2 }, (_, index) => index)
  .filter((index) => !isEdgeCase(index))
  .map((index) => ({ index, given: caseOf(seed, index, corpus) }))

describe('evm: ends random programs like another interpreter', () => {
  it.each(evmForks)(
    '%s',
    async (fork) => {
      const ofFork = worlds.filter(({ given }) => given.fork === fork).slice(0, worldsOfFork)
      expect(ofFork).toHaveLength(worldsOfFork)
      for (const { index, given } of ofFork) {
        const [first, ...others] = evms.map(({ evm }) => runCase(evm, given))
        if (!first) throw new Error('no interpreter')
        for (const other of others) expect(differenceOfRuns(given, first, other), `case ${index}`).toBeUndefined()
        expect(await differenceFromOracle(given, first), `case ${index}`).toBeUndefined()
      }
    },
    60_000,
  )

  it('executes 200 opcodes in half of the programs, and ends half of them successfully', async () => {
    const coverage = createCoverage()
    const [first] = evms
    if (!first) throw new Error('no interpreter')
    let [long, good] = [0, 0]
    const sample = worlds.slice(0, 60)
    for (const { given } of sample) {
      const run = runCase(first.evm, given)
      await differenceFromOracle(given, run, coverage.watch)
      if (coverage.takeSteps() >= 200) long++
      if (run.messages.some(({ kind }) => kind === 'success')) good++
    }
    expect(long).toBeGreaterThanOrEqual(30)
    expect(good).toBeGreaterThanOrEqual(30)
  }, 60_000)
})
