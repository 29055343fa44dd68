import { expect, it } from 'vitest'
import { parseMetrics } from './metricText.ts'
import { quantileOf, ratesBetween } from './rates.ts'

const scrape = (atMs: number, text: string) => ({ atMs, metrics: parseMetrics(text) })

it('monitor/rates: divides the increase of counters by the time, and sums their series', () => {
  const before = 'basalt_execution_blocks_total 100\nbasalt_l1_requests_total{outcome="ok",method="a"} 5\nbasalt_faults_total{code="A"} 3\n'
  const after =
    'basalt_execution_blocks_total 110\nbasalt_l1_requests_total{outcome="ok",method="a"} 9\nbasalt_l1_requests_total{outcome="ok",method="b"} 4\nbasalt_faults_total{code="A"} 3\n'
  const rates = ratesBetween(scrape(1_000, before), scrape(3_000, after))
  expect(rates).toMatchObject({ sec: 2, blocksPerSec: 5, l1: { ok: 4 }, faultsPerSec: 0 })
})

it('monitor/rates: counts from zero when the node has restarted, and has no rate without the counter', () => {
  const rates = ratesBetween(scrape(0, 'basalt_execution_blocks_total 100\n'), scrape(1_000, 'basalt_execution_blocks_total 7\n'))
  expect(rates).toMatchObject({ blocksPerSec: 7, gasPerSec: null, cacheHits: null, calls: [] })
})

it('monitor/rates: reads the times of calls of the interval from the buckets, not those before it', () => {
  const text = (fast: number, slow: number) => `\
basalt_rpc_call_seconds_bucket{class="instant",le="0.001"} ${fast}
basalt_rpc_call_seconds_bucket{class="instant",le="0.1"} ${fast + slow}
basalt_rpc_call_seconds_bucket{class="instant",le="+Inf"} ${fast + slow}
basalt_rpc_call_seconds_count{class="instant"} ${fast + slow}
`
  const { calls } = ratesBetween(scrape(0, text(1_000_000, 0)), scrape(10_000, text(1_000_090, 10)))
  expect(calls).toEqual([{ class: 'instant', perSec: 10, medianSec: expect.closeTo(0.000_555, 5), p99Sec: expect.closeTo(0.0901, 4) }])
})

it.each([
  ['is empty', [], null],
  ['has no calls', [{ upTo: 1, count: 0 }], null],
  [
    'has all calls above its bounds',
    [
      { upTo: 1, count: 0 },
      { upTo: Number.POSITIVE_INFINITY, count: 5 },
    ],
    1,
  ],
  ['has all calls in its first bucket', [{ upTo: 4, count: 2 }], 2],
])('monitor/rates: a quantile of a histogram that %s', (_which, buckets, quantile) => {
  expect(quantileOf(buckets, 0.5)).toBe(quantile)
})
