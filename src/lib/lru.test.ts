import { expect, it } from 'vitest'
import { Lru } from './lru.ts'

it('lib/lru: evicts the least recently read entries first', () => {
  const cache = new Lru<string, number>(3)
  cache.set('a', 1, 1)
  cache.set('b', 2, 1)
  cache.set('c', 3, 1)
  cache.get('a')
  cache.set('d', 4, 1)
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.get('d')]).toEqual([1, undefined, 3, 4])
})

it('lib/lru: never exceeds its size in bytes', () => {
  const cache = new Lru<number, number>(10)
  for (let i = 0; i < 100; i++) cache.set(i % 7, i, (i * 3) % 12)
  expect(cache.sizeBytes).toBeLessThanOrEqual(10)
  cache.set(1, 1, 11)
  expect(cache.get(1)).toBeUndefined()
  cache.clear()
  expect(cache.sizeBytes).toBe(0)
})
