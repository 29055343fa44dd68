import { availableParallelism } from 'node:os'

/** Bound of RPC threads: a filter's id has one byte for its thread, and more threads than cores gain nothing. */
export const maxRpcThreads = 64

/** Returns the default number of RPC threads: one less than cores; none where the system does not share a port among threads. */
export function usualRpcThreads(): number {
  return process.platform === 'linux' ? Math.min(availableParallelism() - 1, maxRpcThreads) : 0
}

/** Share of the caches of each thread that answers; all shares add up to one. */
export type CacheShares = { readonly main: number; readonly worker: number }

/** @param workers threads besides main; if there are any, main answers on the engine port and the local socket only */
export function cacheShares(workers: number): CacheShares {
  const main = workers === 0 ? 1 : 1 / 8
  return { main, worker: workers === 0 ? 0 : (1 - main) / workers }
}
