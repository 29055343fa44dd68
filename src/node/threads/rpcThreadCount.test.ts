import { expect, it } from 'vitest'
import { cacheShares, maxRpcThreads, usualRpcThreads } from './rpcThreadCount.ts'

it.each([0, 1, 2, 7, 64])('node/threads/rpcThreadCount: gives all threads together one cache with %i threads', (workers) => {
  const { main, worker } = cacheShares(workers)
  expect(main + workers * worker).toBeCloseTo(1)
  expect(main).toBeGreaterThan(0)
})

it.runIf(process.platform === 'linux').each([
  [1, 0],
  [2, 2],
  [3, 2],
  [16, 15],
  [256, maxRpcThreads],
])('node/threads/rpcThreadCount: with %i cores the default is %i threads', (cores, threads) => {
  expect(usualRpcThreads(cores)).toBe(threads)
})
