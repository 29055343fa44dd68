import { expect, it } from 'vitest'
import { CacheSet } from './caches.ts'

it('lib/caches: bounds each cache by the bytes of its name, and sums the caches of one name', () => {
  const caches = new CacheSet({ blocks: 100, parts: 10 })
  const blocks = caches.lru<string, number>('blocks')
  const [large, small] = [caches.lru<string, number>('parts', 0.9), caches.lru<string, number>('parts', 0.1)]
  blocks.set('a', 1, 100)
  large.set('a', 1, 9)
  small.set('a', 1, 1)
  small.set('b', 1, 2)
  expect([blocks.get('a'), large.get('a'), small.get('a'), small.get('b')]).toEqual([1, 1, 1, undefined])
  expect(caches.facts()).toEqual({
    blocks: { sizeBytes: 100, maxBytes: 100, hits: 1, misses: 0 },
    parts: { sizeBytes: 10, maxBytes: 10, hits: 2, misses: 1 },
  })
})

it('lib/caches: bounds and measures a cache of another kind, made with the bytes of its name', () => {
  const shares: number[] = []
  const caches = new CacheSet({ nodes: 50, blocks: 1 })
  const own = caches.add('nodes', (maxBytes) => ({
    facts: () => ({ sizeBytes: 5, maxBytes, hits: 2, misses: 1 }),
    limitTo: (share: number) => void shares.push(share),
  }))
  caches.limitTo(0.25)
  expect(shares).toEqual([0.25])
  expect(caches.facts()).toEqual({ nodes: own.facts() })
  expect(own.facts().maxBytes).toBe(50)
})

it('lib/caches: a cache that cannot shrink keeps its size', () => {
  const caches = new CacheSet({ code: 50, blocks: 100 })
  caches.add('code', (maxBytes) => ({ facts: () => ({ sizeBytes: 40, maxBytes, hits: 0, misses: 0 }) }))
  caches.lru<number, number>('blocks').set(1, 1, 90)
  caches.limitTo(0)
  expect(caches.facts()).toMatchObject({ code: { sizeBytes: 40, maxBytes: 50 }, blocks: { sizeBytes: 0, maxBytes: 0 } })
})

it('lib/caches: a share of the bytes evicts at once and ends with the whole bytes', () => {
  const caches = new CacheSet({ blocks: 100 })
  const blocks = caches.lru<number, number>('blocks')
  for (let i = 0; i < 10; i++) blocks.set(i, i, 10)
  caches.limitTo(0.25)
  expect(caches.facts().blocks).toMatchObject({ sizeBytes: 20, maxBytes: 25 })
  expect([blocks.peek(7), blocks.peek(8), blocks.peek(9)]).toEqual([undefined, 8, 9])
  blocks.set(10, 10, 30)
  expect(blocks.peek(10)).toBeUndefined()
  caches.limitTo(1)
  blocks.set(10, 10, 30)
  expect(blocks.peek(10)).toBe(10)
})
