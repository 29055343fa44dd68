import { AggregatorRegistry, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { counterCells, defineMetrics } from '../metrics.ts'

const labels = { method: ['eth_call', 'eth_chainId'], outcome: ['result', 'error'] } as const
const table = defineMetrics({ calls: counterCells('basalt_test_calls_total', 'Calls', labels) })

function counted(...by: readonly number[]): Registry {
  const registry = new Registry()
  const { calls } = table.register(registry)
  const cell = calls.cell({ method: 'eth_call', outcome: 'error' })
  calls.cell({ method: 'eth_chainId', outcome: 'result' })
  for (const one of by) cell.add(one)
  return registry
}

it('lib/metrics: cells of a counter add to one series, and a series without a count is left out', async () => {
  expect(await counted(1, 2.5).metrics()).toBe(
    '# HELP basalt_test_calls_total Calls\n# TYPE basalt_test_calls_total counter\nbasalt_test_calls_total{method="eth_call",outcome="error"} 3.5\n',
  )
  const registry = new Registry()
  const { calls } = table.register(registry)
  for (let i = 0; i < 2; i++) calls.cell({ method: 'eth_call', outcome: 'result' }).add(1)
  expect(await registry.metrics()).toContain('{method="eth_call",outcome="result"} 2\n')
})

it('lib/metrics: cells are summed over threads, as messages carry them', async () => {
  const all = await Promise.all([counted(1), counted(), counted(4)].map(async (one) => structuredClone(await one.getMetricsAsJSON())))
  expect(await AggregatorRegistry.aggregate(all).metrics()).toContain('basalt_test_calls_total{method="eth_call",outcome="error"} 5\n')
})

it('lib/metrics: a cell refuses a label value that is not declared', () => {
  const { calls } = table.register(new Registry())
  expect(() => calls.cell({ method: 'eth_foo' as 'eth_call', outcome: 'error' })).toThrow('unknown value eth_foo of label method')
})
