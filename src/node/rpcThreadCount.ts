import { availableParallelism } from 'node:os'

/** A filter's id has one byte for the thread that has it; more threads than cores gain nothing. */
export const maxRpcThreads = 64

/** One less than there are cores; none where the system does not share a port among threads. */
export function usualRpcThreads(): number {
  return process.platform === 'linux' ? Math.min(availableParallelism() - 1, maxRpcThreads) : 0
}
