import { expect, it } from 'vitest'
import type { Evm } from '#evm/ports'
import { type EvmCase, runCase, stateAfter } from '#test/harness/evm/case'
import { caseOfFile, fileOfCase } from '#test/harness/evm/caseFile'
import { runOracle } from '#test/harness/evm/oracle'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { differenceFromOracle, differenceOfRuns, differenceOfStates } from '../fuzz/evm/compare.ts'
import { readCorpus } from '../fuzz/evm/corpus.ts'
import { createCoverage, missingPairs } from '../fuzz/evm/coverage.ts'
import { minimised } from '../fuzz/evm/minimise.ts'
import { caseOf, isEdgeCase } from '../fuzz/evm/world.ts'

const corpus = readCorpus('committed')
const reference = createReferenceEvm()
const seed = 1

/** Interpreter that executes one opcode as another. */
function withFault(from: number, to: number): Evm {
  const own = createReferenceEvm()
  return {
    open: (view, block, rules) =>
      own.open({ ...view, code: (hash) => view.code(hash).map((byte) => (byte === from ? to : byte)) }, block, rules),
  }
}

/** First case that the faulty interpreter and the reference end differently. */
function firstDifference(faulty: Evm): EvmCase | undefined {
  return Array.from({ length: 300 }, (_, index) => caseOf(seed, index, corpus)).find(
    (given) => differenceOfRuns(given, runCase(reference, given), runCase(faulty, given)) !== undefined,
  )
}

it('test/fuzz/evm: generates the same case for the same seed and number, also from its file', () => {
  for (const index of [0, 1, 2, 3, 40]) {
    const file = fileOfCase('', caseOf(seed, index, corpus))
    expect(fileOfCase('', caseOf(seed, index, corpus))).toEqual(file)
    expect(fileOfCase('', caseOfFile(file))).toEqual(file)
  }
})

it.each([
  ['SAR for SHR', 0x1d, 0x1c],
  ['SMOD for SDIV', 0x07, 0x05],
  ['MSIZE for GAS', 0x59, 0x5a],
  ['DUP14 for DUP13', 0x8d, 0x8c],
])('test/fuzz/evm: finds an interpreter that executes %s, and minimises the case', async (_what, from, to) => {
  const faulty = withFault(from, to)
  const found = firstDifference(faulty)
  if (!found) throw new Error('not found')
  const shows = async (given: EvmCase) => differenceOfRuns(given, runCase(reference, given), runCase(faulty, given)) !== undefined
  const small = await minimised(found, shows, 5_000)
  expect(await shows(small)).toBe(true)
  expect(sizeOf(small)).toBeLessThan(120)
  expect(
    [...small.accounts.values()].some(({ code }) => code.includes(from)) || small.messages.some(({ data }) => data.includes(from)),
  ).toBe(true)
})

const sizeOf = ({ accounts, messages }: EvmCase): number =>
  [...accounts.values()].reduce((sum, { code }) => sum + code.length, 0) + messages.reduce((sum, { data }) => sum + data.length, 0)

it('test/fuzz/evm: finds a difference from the oracle in one balance or slot', async () => {
  const given = caseOf(seed, 1, corpus)
  const run = runCase(reference, given)
  const { state } = await runOracle(given)
  const ours = stateAfter(given.accounts, run.diff)
  expect(differenceOfStates(ours, state)).toBeUndefined()
  expect(differenceOfStates(ours.slice(1), state)).toMatch(/^state: \+ 0x/)
  expect(differenceOfStates(ours.with(0, ours[0]?.replace(/\d$/, 'x') ?? ''), state)).toMatch(/^state: - 0x/)
})

it('test/fuzz/evm: covers every possible outcome of every opcode with the edge cases', async () => {
  const coverage = createCoverage()
  const edges = Array.from({ length: 240 }, (_, index) => index).filter(isEdgeCase)
  for (const index of edges) {
    const given = caseOf(seed, index, corpus)
    expect(await differenceFromOracle(given, runCase(reference, given), coverage.watch)).toBeUndefined()
  }
  expect(missingPairs(coverage.counts())).toEqual([])
}, 60_000)
