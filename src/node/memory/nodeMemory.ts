import type { Registry } from 'prom-client'
import { CacheSet, type FactsByName } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { createThreadGuard, type MemoryGuard, memoryLevels } from '#lib/memoryGuard'
import { memoryLimit } from '#lib/processMemory'
import { CacheMeter } from '../metrics/cacheMeter.ts'
import { cacheMetrics, memoryMetrics } from '../metrics.ts'
import type { MemoryOptions, NodeOptions } from '../nodeOptions.ts'
import { cacheShares } from '../threads/rpcThreadCount.ts'
import { isThreaded } from '../threads/rpcThreads.ts'
import { type CacheBytes, type CacheName, divideCache, shareOfThread, usualCacheBytes } from './cacheBudget.ts'

/** Memory of a node: the budget of its caches, and the caches of the main thread. */
export interface NodeMemory extends Disposable {
  /** of all threads together */
  readonly bytes: CacheBytes
  /** of one RPC thread */
  readonly workerBytes: CacheBytes
  readonly caches: CacheSet<CacheName>
  /** of the process, watched by the main thread */
  readonly guard: MemoryGuard
  /** Updates the metrics. @param others facts of the caches of the execution thread */
  collect(others: FactsByName<CacheName>): void
}

export type NodeMemoryDeps = { readonly registry: Registry; readonly clock: Clock }
export type NodeMemoryOptions = MemoryOptions & Pick<NodeOptions, 'listen' | 'rpcThreads'>

/** Returns the default of `--memory-max`: three quarters of the memory, for the pages of the database need the rest. */
const usualMemoryMax = (memoryBytes: number): number => Math.floor(memoryBytes * 0.75)

/** Returns the bounds of the anonymous memory of a process and of its caches together. */
export function memoryBounds(options: MemoryOptions): { readonly maxBytes: number; readonly cacheBytes: number } {
  const { memoryMaxBytes: maxBytes = usualMemoryMax(memoryLimit()) } = options
  return { maxBytes, cacheBytes: options.cacheBytes ?? usualCacheBytes(Math.min(maxBytes, memoryLimit())) }
}

/** Divides the memory of a node, and watches it until disposed. The main thread has the caches of L1 and a share of those that answer JSON-RPC. */
export function createNodeMemory({ registry, clock }: NodeMemoryDeps, options: NodeMemoryOptions): NodeMemory {
  const { maxBytes, cacheBytes } = memoryBounds(options)
  const bytes = divideCache(cacheBytes)
  const shares = cacheShares(isThreaded(options) ? (options.rpcThreads ?? 0) : 0)
  const caches = new CacheSet({ ...shareOfThread(bytes, shares.main), l1: bytes.l1 })
  const guard = createThreadGuard(clock, maxBytes, caches)
  const metrics = memoryMetrics.register(registry)
  const meter = new CacheMeter(cacheMetrics.register(registry))
  return {
    bytes,
    workerBytes: shareOfThread(bytes, shares.worker),
    caches,
    guard,
    collect(others): void {
      meter.collect([caches.facts(), others])
      metrics.limit.set({}, maxBytes)
      metrics.level.set({}, memoryLevels.indexOf(guard.level()))
    },
    [Symbol.dispose]: () => guard[Symbol.dispose](),
  }
}
