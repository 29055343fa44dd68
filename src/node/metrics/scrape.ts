import { AggregatorRegistry, type Registry } from 'prom-client'
import { createLoopLagMeter } from '#lib/loopLag'
import { rpcThreadMetrics } from '../metrics.ts'
import type { MetricValues } from '../threads/rpcWorkerProtocol.ts'

/** What several threads have measured as one: of one name the sum, or the largest where the values say so. */
function joined(all: readonly MetricValues[]): Registry {
  // the typings ask for lists that may be changed: they are not
  return AggregatorRegistry.aggregate(all as unknown as Parameters<typeof AggregatorRegistry.aggregate>[0])
}

/** What is measured in this thread and in others, as Prometheus reads it. */
export async function scrape(registry: Registry, others: readonly MetricValues[]): Promise<string> {
  if (others.length === 0) return await registry.metrics()
  return await joined([await registry.getMetricsAsJSON(), ...others]).metrics()
}

/** What is counted, of threads that are gone too: a counter never falls. */
export async function counted(all: readonly MetricValues[]): Promise<MetricValues> {
  // prom-client tells the kind by its name here
  const values: MetricValues = await joined(all).getMetricsAsJSON()
  return values.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** What a thread that answers JSON-RPC measures, for `scrape`. Disposing of it ends the watch over the event loop. */
export function createThreadMeter(registry: Registry): Disposable & { read(): Promise<MetricValues> } {
  const { loopLag } = rpcThreadMetrics.register(registry)
  const lag = createLoopLagMeter()
  const [{ name: largest }] = [rpcThreadMetrics.specs.loopLag]
  return {
    async read(): Promise<MetricValues> {
      const { medianSec, p99Sec, maxSec } = lag.read()
      loopLag.set({ quantile: '0.5' }, medianSec)
      loopLag.set({ quantile: '0.99' }, p99Sec)
      loopLag.set({ quantile: '1' }, maxSec)
      const values: MetricValues = await registry.getMetricsAsJSON()
      return values.map((metric) => (metric.name === largest ? { ...metric, aggregator: 'max' } : metric))
    },
    [Symbol.dispose]: () => lag[Symbol.dispose](),
  }
}
