import { expect, it } from 'vitest'
import { difference, exclusionNames } from '../oracle/exclusions.ts'
import { readKept, readSample } from '../oracle/kept.ts'
import { runOurs } from '../oracle/ours.ts'

/** Cases with the results of op-revm, the core of Base's client: findings of `npm run test:oracle`, and a sample of its targeted cases. */
const sample = readSample()

it.each([...readKept(), ...sample])('block/execution: ends a block like Base’s client: $about', ({ case: given, answer }) => {
  expect(difference(given, runOurs(given), answer).found).toBeUndefined()
})

it('test/oracle: has a sample with cases of every fork and of all kinds', () => {
  expect(new Set(sample.map(({ case: { fork } }) => fork)).size).toBe(9)
  expect(new Set(sample.map(({ about }) => about.split(',')[0])).size).toBeGreaterThanOrEqual(15)
  const excluded = sample.map(({ case: given, answer }) => difference(given, runOurs(given), answer).excluded)
  expect(
    exclusionNames.filter((name) => !excluded.includes(name)),
    'known differences',
  ).toEqual([])
})
