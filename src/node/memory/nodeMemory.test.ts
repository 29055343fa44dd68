import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import type { CacheName } from './cacheBudget.ts'
import { createNodeMemory, type NodeMemoryOptions } from './nodeMemory.ts'

const sum = (bytes: Readonly<Record<string, number>>): number => Object.values(bytes).reduce((a, b) => a + b, 0)
const memoryOf = (options: Partial<NodeMemoryOptions>) =>
  createNodeMemory({ registry: new Registry(), clock: createManualClock() }, { listen: {}, ...options })

it('node/memory/nodeMemory: caches have an eighth of --memory-max, and --cache overrides it', () => {
  using bounded = memoryOf({ memoryMaxBytes: 800_000_000 })
  expect(Math.abs(sum(bounded.bytes) - 100_000_000)).toBeLessThan(100)
  using chosen = memoryOf({ memoryMaxBytes: 800_000_000, cacheBytes: 300_000_000 })
  expect(Math.abs(sum(chosen.bytes) - 300_000_000)).toBeLessThan(100)
})

it('node/memory/nodeMemory: main and RPC threads together have the bytes of their caches', () => {
  const http = { host: '127.0.0.1', port: 0 }
  using memory = memoryOf({ cacheBytes: 100_000_000, rpcThreads: 3, listen: { http } })
  const { bytes, caches, workerBytes } = memory
  const mainBytes = (name: CacheName): number => caches.lru(name).facts().maxBytes
  for (const name of ['blocks', 'replays', 'witness', 'logs'] as const)
    expect(Math.abs(mainBytes(name) + 3 * workerBytes[name] - bytes[name]), name).toBeLessThan(4)
  expect(mainBytes('l1')).toBe(bytes.l1)
})

it('node/memory/nodeMemory: the caches of the main thread shrink near --memory-max, and metrics show the level', async () => {
  const [registry, clock] = [new Registry(), createManualClock()]
  using memory = createNodeMemory({ registry, clock }, { listen: {}, memoryMaxBytes: 1 })
  const blocks = memory.caches.lru<string, string>('blocks')
  blocks.set('a', 'a', 100)
  await clock.advanceMs(100)
  expect([blocks.sizeBytes, memory.guard.level()]).toEqual([0, 'full'])
  memory.collect({})
  const text = await registry.metrics()
  expect(text).toContain('basalt_memory_pressure_state 2')
  expect(text).toContain('basalt_memory_limit_bytes 1')
  expect(text).toContain('basalt_cache_limit_bytes{cache="blocks"} 0')
})
