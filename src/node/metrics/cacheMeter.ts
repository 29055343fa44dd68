import type { FactsByName } from '#lib/caches'
import type { CacheFacts } from '#lib/lru'
import { type CacheName, cacheNames } from '../memory/cacheBudget.ts'
import type { CacheMetrics } from '../metrics.ts'

const none: CacheFacts = { sizeBytes: 0, maxBytes: 0, hits: 0, misses: 0 }

/** Updates the metrics of the caches of one registry from the facts of several threads. */
export class CacheMeter {
  readonly #metrics: CacheMetrics
  #before: readonly FactsByName<CacheName>[] = []

  constructor(metrics: CacheMetrics) {
    this.#metrics = metrics
  }

  /** @param threads in the same order at each call */
  collect(threads: readonly FactsByName<CacheName>[]): void {
    for (const cache of cacheNames) {
      let [held, limit, hits, misses] = [0, 0, 0, 0]
      for (const [index, thread] of threads.entries()) {
        const [now, before] = [thread[cache] ?? none, this.#before[index]?.[cache] ?? none]
        held += now.sizeBytes
        limit += now.maxBytes
        hits += now.hits - before.hits
        misses += now.misses - before.misses
      }
      this.#metrics.held.set({ cache }, held)
      this.#metrics.limit.set({ cache }, limit)
      this.#metrics.hits.inc({ cache }, hits)
      this.#metrics.misses.inc({ cache }, misses)
    }
    this.#before = threads
  }
}
