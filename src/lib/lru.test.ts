import fc from 'fast-check'
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

/** The same cache as a list, oldest entry first. */
class ListCache {
  #kept: readonly { readonly key: number; readonly value: number; readonly sizeBytes: number }[] = []

  get sizeBytes(): number {
    return this.#kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  get(key: number): number | undefined {
    const known = this.#kept.find((entry) => entry.key === key)
    this.delete(key)
    if (known) this.#kept = [...this.#kept, known]
    return known?.value
  }

  set(key: number, value: number, sizeBytes: number): void {
    this.delete(key)
    if (sizeBytes <= 10) this.#kept = [...this.#kept, { key, value, sizeBytes }]
    while (this.sizeBytes > 10) this.#kept = this.#kept.slice(1)
  }

  delete(key: number): void {
    this.#kept = this.#kept.filter((entry) => entry.key !== key)
  }
}

it('lib/lru: keeps what a list keeps that is searched from its oldest entry', () => {
  const key = fc.integer({ min: 0, max: 9 })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('get' as const), key }),
    fc.record({ kind: fc.constant('delete' as const), key }),
    fc.record({ kind: fc.constant('set' as const), key, sizeBytes: fc.integer({ min: 0, max: 12 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [cache, list] = [new Lru<number, number>(10), new ListCache()]
      for (const [value, one] of steps.entries()) {
        const done = [cache, list].map((on) => (one.kind === 'set' ? on.set(one.key, value, one.sizeBytes) : on[one.kind](one.key)))
        expect(done[0]).toEqual(done[1])
        expect(cache.sizeBytes).toBe(list.sizeBytes)
      }
    }),
  )
})
