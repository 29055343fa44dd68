import { expect, it } from 'vitest'
import { Trend } from './trend.ts'

const options = { windowMs: 10_000, leastMs: 2_000, everyMs: 1_000 }

function trendOf(...values: readonly number[]): Trend {
  const trend = new Trend(options)
  for (const [at, value] of values.entries()) trend.add(at * 1_000, value)
  return trend
}

it.each<[string, number[], number | undefined]>([
  ['has no forecast without samples', [], undefined],
  ['has no forecast over too short a span', [100, 90], undefined],
  ['divides the rest by the rate', [100, 90, 80], 7],
  ['is 0 at the floor, whatever the span', [10], 0],
  ['is infinite for a constant value', [100, 100, 100], Number.POSITIVE_INFINITY],
  ['is infinite for a value that grows', [100, 110, 120], Number.POSITIVE_INFINITY],
])('node/metrics/trend: %s', (_what, values, seconds) => {
  expect(trendOf(...values).secondsTo(10)).toBe(seconds)
})

it('node/metrics/trend: forgets samples before its window, and drops samples that are too close', () => {
  const trend = trendOf(...Array.from({ length: 100 }, (_, at) => (at < 50 ? 5_000 : 1_000 - at)))
  trend.add(99_010, 0)
  expect(trend.secondsTo(801)).toBe(100)
})
