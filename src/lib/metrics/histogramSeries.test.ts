import { AggregatorRegistry, Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { defineMetrics, histogram } from '../metrics.ts'

const buckets = [0.001, 0.01, 0.5, 2]
const labels = { class: ['fast', 'slow', 'none'], place: ['here', 'there'] } as const
const table = defineMetrics({ took: histogram('basalt_test_call_seconds', 'Time of calls', buckets, labels) })
const observed = [
  ...([0, 0.001, 0.0011, 0.01, 0.4, 0.5, 2, 2.0001, 1e9] as const).map((value) => [{ class: 'fast', place: 'there' }, value] as const),
  [{ class: 'slow', place: 'here' }, 0.25],
  [{ class: 'slow', place: 'there' }, 3],
] as const

/** Returns the same values in a histogram of prom-client. */
function reference(): Registry {
  const registry = new Registry()
  const metric = new Histogram({
    ...{ name: 'basalt_test_call_seconds', help: 'Time of calls', labelNames: Object.keys(labels), buckets, registers: [registry] },
  })
  for (const name of labels.class) for (const place of labels.place) metric.zero({ class: name, place })
  for (const [given, value] of observed) metric.observe(given, value)
  return registry
}

function ours(): Registry {
  const registry = new Registry()
  const { took } = table.register(registry)
  for (const [given, value] of observed) took.observe(given, value)
  return registry
}

it('lib/metrics: a histogram has the text of the histogram of prom-client', async () => {
  expect(await ours().metrics()).toBe(await reference().metrics())
})

it('lib/metrics: a histogram is summed over threads as the histogram of prom-client', async () => {
  const joined = async (one: Registry, other: Registry): Promise<string> => {
    // values of other threads come by messages
    const all = [await one.getMetricsAsJSON(), structuredClone(await other.getMetricsAsJSON())]
    return await AggregatorRegistry.aggregate(all).metrics()
  }
  expect(await joined(ours(), ours())).toBe(await joined(reference(), reference()))
})

it('lib/metrics: a histogram rejects a value of a label that is not declared', () => {
  const { took } = table.register(new Registry())
  // @ts-expect-error not declared
  expect(() => took.observe({ class: 'other', place: 'here' }, 1)).toThrow(RangeError)
})
