import type { Registry } from 'prom-client'
import { CacheSet, type FactsByName } from '#lib/caches'
import { memoryLimit } from '#lib/processMemory'
import { CacheMeter } from '../metrics/cacheMeter.ts'
import { cacheMetrics } from '../metrics.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import { cacheShares } from '../threads/rpcThreadCount.ts'
import { isThreaded } from '../threads/rpcThreads.ts'
import { type CacheBytes, type CacheName, divideCache, shareOfThread, usualCacheBytes } from './cacheBudget.ts'

/** Memory of a node: the budget of its caches, and the caches of the main thread. */
export interface NodeMemory {
  /** of all threads together */
  readonly bytes: CacheBytes
  /** of the main thread */
  readonly mainBytes: CacheBytes
  /** of one RPC thread */
  readonly workerBytes: CacheBytes
  readonly caches: CacheSet<CacheName>
  /** Updates the metrics. @param others facts of the caches of the execution thread */
  collect(others: FactsByName<CacheName>): void
}

export type NodeMemoryOptions = Pick<NodeOptions, 'cacheBytes' | 'listen' | 'rpcThreads'>

/** Divides the memory of a node. The main thread has the caches of L1 and a share of those that answer JSON-RPC. */
export function createNodeMemory(registry: Registry, options: NodeMemoryOptions): NodeMemory {
  const bytes = divideCache(options.cacheBytes ?? usualCacheBytes(memoryLimit()))
  const shares = cacheShares(isThreaded(options) ? (options.rpcThreads ?? 0) : 0)
  const mainBytes = { ...shareOfThread(bytes, shares.main), l1: bytes.l1 }
  const caches = new CacheSet(mainBytes)
  const meter = new CacheMeter(cacheMetrics.register(registry))
  return {
    bytes,
    mainBytes,
    workerBytes: shareOfThread(bytes, shares.worker),
    caches,
    collect: (others) => meter.collect([caches.facts(), others]),
  }
}
