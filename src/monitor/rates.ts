import type { MetricValues, Sample } from './metricText.ts'

/** Calls of a cost class in an interval. Times are null when there were none. */
export type CallRate = {
  readonly class: string
  readonly perSec: number
  readonly medianSec: number | null
  readonly p99Sec: number | null
}

/** Changes of a node's counters in an interval, for each second. null: the node has no such counter. */
export type Rates = {
  readonly sec: number
  readonly blocksPerSec: number | null
  readonly gasPerSec: number | null
  readonly transactionsPerSec: number | null
  /** part of the time that each stage of the import pipeline worked: 1 is one core */
  readonly stages: Readonly<Record<string, number>>
  readonly calls: readonly CallRate[]
  /** JSON-RPC calls refused by a limit */
  readonly refusedPerSec: number | null
  /** calls to L1 endpoints by outcome */
  readonly l1: Readonly<Record<string, number>>
  /** part of the reads of all caches that found an entry; null: there were no reads */
  readonly cacheHits: number | null
  readonly faultsPerSec: number | null
}

type Scrape = { readonly metrics: MetricValues; readonly atMs: number }

/** Returns the increase of a counter. One that fell was started again at zero. */
const increase = (before: number, after: number): number => (after >= before ? after - before : after)

const keyOf = ({ labels }: Sample): string => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Returns the increase of each series of a counter; a series that is new began at zero. */
function increases(name: string, before: MetricValues, after: MetricValues): readonly Sample[] {
  const known = new Map(before.series(name).map((sample) => [keyOf(sample), sample.value]))
  return after.series(name).map((sample) => ({ ...sample, value: increase(known.get(keyOf(sample)) ?? 0, sample.value) }))
}

const sumOf = (samples: readonly Sample[]): number => samples.reduce((sum, { value }) => sum + value, 0)

/** Sums samples by the value of a label. */
function sumsBy(samples: readonly Sample[], label: string): Readonly<Record<string, number>> {
  const sums = new Map<string, number>()
  for (const { labels, value } of samples) sums.set(labels[label] ?? '', (sums.get(labels[label] ?? '') ?? 0) + value)
  return Object.fromEntries(sums)
}

type Bucket = { readonly upTo: number; readonly count: number }

/**
 * Returns a quantile of a histogram, interpolated in its bucket; null: it is empty. A value above the last finite bound is that bound.
 * @param buckets cumulative counts
 */
export function quantileOf(buckets: readonly Bucket[], quantile: number): number | null {
  const ascending = buckets.toSorted((a, b) => a.upTo - b.upTo)
  const rank = (ascending.at(-1)?.count ?? 0) * quantile
  if (rank <= 0) return null
  let [below, lower] = [0, 0]
  for (const { upTo, count } of ascending) {
    if (count >= rank) return Number.isFinite(upTo) ? lower + ((upTo - lower) * (rank - below)) / (count - below) : lower
    if (Number.isFinite(upTo)) [below, lower] = [count, upTo]
  }
  return lower
}

function callRates(before: MetricValues, after: MetricValues, sec: number): readonly CallRate[] {
  const buckets = increases('basalt_rpc_call_seconds_bucket', before, after)
  return increases('basalt_rpc_call_seconds_count', before, after).map(({ labels, value }) => {
    const own = buckets
      .filter((bucket) => bucket.labels['class'] === labels['class'])
      .map((bucket) => ({
        upTo: bucket.labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(bucket.labels['le']),
        count: bucket.value,
      }))
    return {
      class: labels['class'] ?? '',
      perSec: value / sec,
      medianSec: quantileOf(own, 0.5),
      p99Sec: quantileOf(own, 0.99),
    }
  })
}

/** Returns the rates between two scrapes of one node. Pure. */
export function ratesBetween(before: Scrape, after: Scrape): Rates {
  const sec = Math.max(1, after.atMs - before.atMs) / 1_000
  const of = (name: string): readonly Sample[] => increases(name, before.metrics, after.metrics)
  const perSec = (name: string): number | null => (after.metrics.series(name).length === 0 ? null : sumOf(of(name)) / sec)
  const each = (sums: Readonly<Record<string, number>>, unit: number): Readonly<Record<string, number>> =>
    Object.fromEntries(Object.entries(sums).map(([key, value]) => [key, value / unit]))
  const [hits, misses] = [sumOf(of('basalt_cache_hits_total')), sumOf(of('basalt_cache_misses_total'))]
  return {
    sec,
    blocksPerSec: perSec('basalt_execution_blocks_total'),
    gasPerSec: perSec('basalt_execution_gas_total'),
    transactionsPerSec: perSec('basalt_execution_transactions_total'),
    stages: each(sumsBy(of('basalt_execution_stage_milliseconds_total'), 'stage'), sec * 1_000),
    calls: callRates(before.metrics, after.metrics, sec),
    refusedPerSec: perSec('basalt_rpc_limit_hits_total'),
    l1: each(sumsBy(of('basalt_l1_requests_total'), 'outcome'), sec),
    cacheHits: hits + misses === 0 ? null : hits / (hits + misses),
    faultsPerSec: perSec('basalt_faults_total'),
  }
}
