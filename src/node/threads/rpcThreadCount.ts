import { availableParallelism } from 'node:os'

/** Bound of RPC threads: a filter's id has one byte for its thread, and more threads than cores gain nothing. */
export const maxRpcThreads = 64

/**
 * Returns the default number of RPC threads: one less than the cores, two on two cores; none on one core, or where the system does not share a port among
 * threads.
 */
export function usualRpcThreads(cores = availableParallelism()): number {
  if (process.platform !== 'linux' || cores < 2) return 0
  return Math.min(Math.max(2, cores - 1), maxRpcThreads)
}

/** Share of the caches of each thread that answers; all shares add up to one. */
export type CacheShares = { readonly main: number; readonly worker: number }

/** @param workers threads besides main; if there are any, main answers on the engine port and the local socket only */
export function cacheShares(workers: number): CacheShares {
  const main = workers === 0 ? 1 : 1 / 16
  return { main, worker: workers === 0 ? 0 : (1 - main) / workers }
}
