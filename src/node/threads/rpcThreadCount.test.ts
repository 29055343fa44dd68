import { expect, it } from 'vitest'
import { cacheShares } from './rpcThreadCount.ts'

it.each([0, 1, 2, 7, 64])('node/threads/rpcThreadCount: gives all threads together one cache with %i threads', (workers) => {
  const { main, worker } = cacheShares(workers)
  expect(main + workers * worker).toBeCloseTo(1)
  expect(main).toBeGreaterThan(0)
})
