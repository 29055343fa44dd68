import { AggregatorRegistry, type Registry } from 'prom-client'
import type { CacheSet } from '#lib/caches'
import { createLoopLagMeter } from '#lib/loopLag'
import type { CacheName } from '../memory/cacheBudget.ts'
import { cacheMetrics, rpcThreadMetrics } from '../metrics.ts'
import type { MetricValues } from '../threads/rpcWorkerProtocol.ts'
import { CacheMeter } from './cacheMeter.ts'

/** Joins the metrics of several threads: values of one name are summed, or the largest is taken where they say so. */
function joined(all: readonly MetricValues[]): Registry {
  // the typings require mutable lists, though none is changed
  return AggregatorRegistry.aggregate(all as unknown as Parameters<typeof AggregatorRegistry.aggregate>[0])
}

/** Returns the metrics of this thread and of others in the Prometheus text format. */
export async function scrape(registry: Registry, others: readonly MetricValues[]): Promise<string> {
  if (others.length === 0) return await registry.metrics()
  return await joined([await registry.getMetricsAsJSON(), ...others]).metrics()
}

/** Returns counters and histograms only, to keep those of ended threads: a counter never falls. */
export async function counted(all: readonly MetricValues[]): Promise<MetricValues> {
  // prom-client has the kind as a string here
  const values: MetricValues = await joined(all).getMetricsAsJSON()
  return values.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** Measures an RPC thread, for `scrape`. Disposing ends the measurement of the event loop. */
export function createThreadMeter(registry: Registry, caches: CacheSet<CacheName>): Disposable & { read(): Promise<MetricValues> } {
  const { loopLag } = rpcThreadMetrics.register(registry)
  const cacheMeter = new CacheMeter(cacheMetrics.register(registry))
  const lag = createLoopLagMeter()
  const [{ name: largest }] = [rpcThreadMetrics.specs.loopLag]
  return {
    async read(): Promise<MetricValues> {
      const { medianSec, p99Sec, maxSec } = lag.read()
      loopLag.set({ quantile: '0.5' }, medianSec)
      loopLag.set({ quantile: '0.99' }, p99Sec)
      loopLag.set({ quantile: '1' }, maxSec)
      cacheMeter.collect([caches.facts()])
      const values: MetricValues = await registry.getMetricsAsJSON()
      return values.map((metric) => (metric.name === largest ? { ...metric, aggregator: 'max' } : metric))
    },
    [Symbol.dispose]: () => lag[Symbol.dispose](),
  }
}
