import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { TxPoolFacts } from '#txpool/txPool'
import { executionMetrics, measurePool } from './metrics.ts'

it('executionThread/metrics: sets the sizes of the pool, and adds the growth of its counts', async () => {
  const registry = new Registry()
  const metrics = executionMetrics.register(registry)
  const first: TxPoolFacts = { pending: 3, queued: 1, heldBytes: 5_000, outcomes: { added: 4, signature: 1 }, removals: {} }
  const second: TxPoolFacts = { pending: 0, queued: 1, heldBytes: 900, outcomes: { added: 6, signature: 1 }, removals: { included: 5 } }
  measurePool(metrics, first, undefined)
  measurePool(metrics, second, first)
  const lines = (await registry.metrics()).split('\n').filter((line) => /^basalt_pool_(.*(transactions|bytes) |.* [1-9])/.test(line))
  expect(lines).toEqual([
    'basalt_pool_pending_transactions 0',
    'basalt_pool_queued_transactions 1',
    'basalt_pool_held_bytes 900',
    'basalt_pool_offered_total{outcome="added"} 6',
    'basalt_pool_offered_total{outcome="signature"} 1',
    'basalt_pool_removed_total{reason="included"} 5',
  ])
})
