import { expect, it } from 'vitest'
import { type Stage, simulate } from '../../bench/importHttp/schedule.ts'

const stage = (name: string, ms: number, after: readonly string[], rest: Partial<Stage> = {}): Stage => ({
  ...{ name, ms, after, afterPrevious: [], thread: name },
  ...rest,
})

it('bench/importHttp/schedule: overlaps stages of consecutive blocks on threads of their own, bounded by the longest stage', () => {
  const stages = [stage('a', 10, []), stage('b', 20, ['a']), stage('c', 5, ['b'])]
  const { ms, busy, mostAtOnce } = simulate(stages, 100, 4)
  expect(ms).toBeCloseTo(10 + 100 * 20 + 5)
  expect(busy['b']).toBeGreaterThan(0.99)
  expect(mostAtOnce).toBe(3)
})

it('bench/importHttp/schedule: runs all work one after the other on one core, and stages of one thread on any number', () => {
  const stages = [stage('a', 10, []), stage('b', 20, ['a']), stage('c', 5, ['b'])]
  expect(simulate(stages, 100, 1).ms).toBeCloseTo(3_500)
  const ofOneThread = stages.map((one) => ({ ...one, thread: 'only' }))
  expect(simulate(ofOneThread, 100, 8).ms).toBeCloseTo(3_500)
})

it('bench/importHttp/schedule: waits for stages of the block before, shares work among threads, and uses no more cores than there are', () => {
  const called = [stage('call', 5, [], { afterPrevious: ['answer'] }), stage('answer', 15, ['call'])]
  expect(simulate(called, 10, 4).ms).toBeCloseTo(200)
  const spread = [stage('spread', 40, [], { threads: 4 })]
  expect(simulate(spread, 10, 4).ms).toBeCloseTo(100)
  const { ms, usedCores } = simulate(spread, 10, 2)
  expect([ms, usedCores]).toEqual([expect.closeTo(200), expect.closeTo(2)])
})

it('bench/importHttp/schedule: refuses stages that wait for each other', () => {
  expect(() => simulate([stage('a', 1, ['b']), stage('b', 1, ['a'])], 1, 1)).toThrow('wait for each other at block 0')
})
