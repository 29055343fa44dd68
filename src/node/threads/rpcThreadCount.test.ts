import { expect, it } from 'vitest'
import { cacheShares } from './rpcThreadCount.ts'

it.each([0, 1, 2, 7, 64])('node/threads/rpcThreadCount: with %i threads the caches of all together are one', (workers) => {
  const { main, worker } = cacheShares(workers)
  expect(main + workers * worker).toBeCloseTo(1)
  expect(main).toBeGreaterThan(0)
})
