import { AggregatorRegistry, type Registry } from 'prom-client'
import type { MetricValues } from './rpcWorkerProtocol.ts'

/** What is measured in this thread and in others, as Prometheus reads it: of one name the sum. */
export async function scrape(registry: Registry, others: readonly MetricValues[]): Promise<string> {
  if (others.length === 0) return await registry.metrics()
  // the typings ask for lists that may be changed: they are not
  const all = [await registry.getMetricsAsJSON(), ...others] as unknown as Parameters<typeof AggregatorRegistry.aggregate>[0]
  return await AggregatorRegistry.aggregate(all).metrics()
}
