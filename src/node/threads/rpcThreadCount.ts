import { availableParallelism } from 'node:os'

/** A filter's id has one byte for the thread that has it; more threads than cores gain nothing. */
export const maxRpcThreads = 64

/** One less than there are cores; none where the system does not share a port among threads. */
export function usualRpcThreads(): number {
  return process.platform === 'linux' ? Math.min(availableParallelism() - 1, maxRpcThreads) : 0
}

/** Which part of the caches each thread that answers has: together they are one, however many there are. */
export type CacheShares = { readonly main: number; readonly worker: number }

/** @param workers threads besides main; where there are any, main answers on the engine port and the local socket only */
export function cacheShares(workers: number): CacheShares {
  const main = workers === 0 ? 1 : 1 / 8
  return { main, worker: workers === 0 ? 0 : (1 - main) / workers }
}
