import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { cacheMetrics } from '../metrics.ts'
import { CacheMeter } from './cacheMeter.ts'

it('node/metrics/cacheMeter: sums the caches of all threads and counts each read once', async () => {
  const registry = new Registry()
  const meter = new CacheMeter(cacheMetrics.register(registry))
  const facts = (hits: number) => ({ blocks: { sizeBytes: 10, maxBytes: 100, hits, misses: 1 } })
  meter.collect([facts(2), facts(3), {}])
  meter.collect([facts(2), facts(5), {}])
  const lines = (await registry.metrics()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'basalt_cache_held_bytes{cache="blocks"} 20',
      'basalt_cache_limit_bytes{cache="blocks"} 200',
      'basalt_cache_hits_total{cache="blocks"} 7',
      'basalt_cache_misses_total{cache="blocks"} 2',
      'basalt_cache_hits_total{cache="witness"} 0',
    ]),
  )
})
