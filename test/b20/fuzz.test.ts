import { expect, it } from 'vitest'
import { type FuzzCounts, runSequence } from './fuzzSequence.ts'

it('b20/fuzz: random sequences agree on both interpreters and keep the properties of tokens', { timeout: 120_000 }, () => {
  const counts: FuzzCounts = { messages: 0, succeeded: 0 }
  for (let seed = 1; seed <= 300; seed++) expect(runSequence(seed, counts)).toBeUndefined()
  expect(counts.succeeded).toBeGreaterThan(counts.messages / 5)
})
