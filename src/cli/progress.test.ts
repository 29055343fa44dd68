import { expect, it } from 'vitest'
import { progressText, type Sample } from './progress.ts'

const start: Sample = { timeMs: 0, l1Block: 10, l1Target: 100, l2Block: 0, l2Target: 10_000, gas: 0n }

it.each<[string, Partial<Sample>, string]>([
  [
    'on the way',
    { timeMs: 2_000, l1Block: 20, l2Block: 1_000, gas: 50_000_000n },
    'L1 20/100  L2 1,000/10,000  500 blocks/s  25.0 Mgas/s  18 s left',
  ],
  ['a long way', { timeMs: 1_000, l2Block: 1, gas: 0n }, 'L1 10/100  L2 1/10,000  1 blocks/s  0.0 Mgas/s  2.8 h left'],
  [
    'at the tip',
    { timeMs: 1_000, l1Block: 100, l2Block: 10_000, gas: 0n },
    'L1 100/100  L2 10,000/10,000  10,000 blocks/s  0.0 Mgas/s  following',
  ],
  [
    'at the tip of L1, whose last slots made no L2 block safe yet',
    { timeMs: 1_000, l1Block: 100, l2Block: 9_990, gas: 0n },
    'L1 100/100  L2 9,990/10,000  9,990 blocks/s  0.0 Mgas/s  following',
  ],
  ['without progress', { timeMs: 1_000 }, 'L1 10/100  L2 0/10,000  0 blocks/s  0.0 Mgas/s  waiting'],
])('cli/progress: %s', (_what, to, text) => {
  expect(progressText(start, { ...start, ...to })).toBe(text)
})
