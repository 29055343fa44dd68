import { expect, it } from 'vitest'
import { cacheNames, codeBytesOf, divideCache, divideImportCache, shareOfThread, usualCacheBytes } from './cacheBudget.ts'

const [mib, gib] = [2 ** 20, 2 ** 30]
const sum = (bytes: Readonly<Record<string, number>>): number => Object.values(bytes).reduce((a, b) => a + b, 0)

it.each([32 * mib, 512 * mib, 3 * gib + 1])('node/memory/cacheBudget: all caches together have the whole budget of %i bytes', (total) => {
  const bytes = divideCache(total)
  expect(sum(bytes)).toBeLessThanOrEqual(total)
  expect(sum(bytes)).toBeGreaterThan(total - cacheNames.length)
  for (const name of cacheNames) expect(bytes[name]).toBeGreaterThan(0)
})

it('node/memory/cacheBudget: an import has the whole budget in the caches of execution', () => {
  const bytes = divideImportCache(512 * mib)
  expect(sum(bytes)).toBeGreaterThan(512 * mib - cacheNames.length)
  expect(bytes.nodes).toBeGreaterThan(3 * divideCache(512 * mib).nodes)
  expect([bytes.blocks, bytes.l1, bytes.callCode]).toEqual([0, 0, 0])
})

it('node/memory/cacheBudget: threads divide the bytes of a cache', () => {
  const bytes = divideCache(512 * mib)
  const worker = shareOfThread(bytes, 0.25)
  expect(worker.blocks * 4).toBeLessThanOrEqual(bytes.blocks)
  expect(worker.blocks).toBeGreaterThan(bytes.blocks / 4 - 1)
  expect(codeBytesOf(worker.callCode) * 4).toBeLessThanOrEqual(worker.callCode)
})

it.each([
  [256 * mib, 32 * mib],
  [2 * gib, 256 * mib],
  [4 * gib, 512 * mib],
  [64 * gib, 512 * mib],
])('node/memory/cacheBudget: the default with %i bytes of memory is %i', (memory, cache) => {
  expect(usualCacheBytes(memory)).toBe(cache)
})

it('node/memory/cacheBudget: an interpreter can hold the codes of a call with the least budget and many threads', () => {
  expect(codeBytesOf(shareOfThread(divideCache(mib), 1 / 64).callCode)).toBe(mib)
})
