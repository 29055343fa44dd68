import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { progressText, type Sample, showProgress } from './progress.ts'

const start: Sample = { timeMs: 0, l1Block: 10, l1Target: 100, l2Block: 0, l2Target: 10_000, gas: 0n }

it.each<[string, Partial<Sample>, string]>([
  [
    'on the way',
    { timeMs: 2_000, l1Block: 20, l2Block: 1_000, gas: 50_000_000n },
    'L1 20/100  L2 1,000/10,000  500 blocks/s  25.0 Mgas/s  18 s left',
  ],
  ['far from the target', { timeMs: 1_000, l2Block: 1, gas: 0n }, 'L1 10/100  L2 1/10,000  1 blocks/s  0.0 Mgas/s  2.8 h left'],
  [
    'at the tip',
    { timeMs: 1_000, l1Block: 100, l2Block: 10_000, gas: 0n },
    'L1 100/100  L2 10,000/10,000  10,000 blocks/s  0.0 Mgas/s  following',
  ],
  [
    'at the tip of L1 before its last slots have made an L2 block safe',
    { timeMs: 1_000, l1Block: 100, l2Block: 9_990, gas: 0n },
    'L1 100/100  L2 9,990/10,000  9,990 blocks/s  0.0 Mgas/s  following',
  ],
  ['without progress', { timeMs: 1_000 }, 'L1 10/100  L2 0/10,000  0 blocks/s  0.0 Mgas/s  waiting'],
])('cli/progress: formats a sample that is %s', (_what, to, text) => {
  expect(progressText(start, { ...start, ...to })).toBe(text)
})

it('cli/progress: shows the rate of the last ten seconds, twice a second, until disposed', async () => {
  const clock = createManualClock()
  const shown: string[] = []
  const line = { show: (text: string) => void shown.push(text), above: () => {}, end: () => {}, [Symbol.dispose]: () => {} }
  let [l2Block, gas] = [0, 0n]
  const node = { progress: () => ({ l1Block: 5, l1Target: 9, l2Block, l2Target: 10_000 }), executedGas: () => gas }
  /** Seconds with this many blocks of 0.1 Mgas in each. */
  const run = async (seconds: number, blocks: number) => {
    for (let second = 0; second < seconds; second++) {
      l2Block += blocks
      gas += BigInt(blocks) * 100_000n
      await clock.advanceMs(1_000)
    }
  }
  {
    using _progress = showProgress(clock, line, node)
    await run(20, 100)
    expect(shown).toHaveLength(40)
    expect(shown.at(-1)).toBe('L1 5/9  L2 2,000/10,000  100 blocks/s  10.0 Mgas/s  80 s left')
    await run(12, 10)
    expect(shown.at(-1)).toBe('L1 5/9  L2 2,120/10,000  10 blocks/s  1.0 Mgas/s  13 min left')
  }
  expect(clock.waiting).toBe(0)
})

it('cli/progress: shows waiting, not following, before the first response of L1', async () => {
  const clock = createManualClock()
  const shown: string[] = []
  const line = { show: (text: string) => void shown.push(text), above: () => {}, end: () => {}, [Symbol.dispose]: () => {} }
  const nothing = { l1Block: undefined, l1Target: undefined, l2Block: undefined, l2Target: undefined }
  using _progress = showProgress(clock, line, { progress: () => nothing, executedGas: () => 0n })
  await clock.advanceMs(500)
  expect(shown).toEqual(['L1 0/0  L2 0/0  0 blocks/s  0.0 Mgas/s  waiting'])
})
