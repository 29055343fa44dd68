import { type CacheFacts, Lru } from './lru.ts'

/** Creates the caches of a thread that have a name in a budget. */
export interface CacheSource<Name extends string> {
  /** @param share of the bytes of the name, when several caches divide them */
  lru<K, V>(name: Name, share?: number): Lru<K, V>
}

/** A cache of any kind that a set measures, and bounds unless it cannot shrink. */
export type BoundedCache = Pick<Lru<unknown, unknown>, 'facts'> & Partial<Pick<Lru<unknown, unknown>, 'limitTo'>>

/** Facts of caches by name; a name without a cache in the thread is absent. */
export type FactsByName<Name extends string> = Readonly<Partial<Record<Name, CacheFacts>>>

/** Caches of one thread, each bounded by the bytes that a budget gives its name. */
export class CacheSet<Name extends string> implements CacheSource<Name> {
  readonly #bytes: Readonly<Record<Name, number>>
  readonly #caches: { readonly name: Name; readonly cache: BoundedCache }[] = []

  /** @param bytes of each name, for this thread */
  constructor(bytes: Readonly<Record<Name, number>>) {
    this.#bytes = bytes
  }

  lru<K, V>(name: Name, share = 1): Lru<K, V> {
    return this.add(name, (bytes) => new Lru<K, V>(bytes * share))
  }

  /** Adds a cache that is made with the bytes of a name. */
  add<C extends BoundedCache>(name: Name, create: (bytes: number) => C): C {
    const cache = create(this.#bytes[name])
    this.#caches.push({ name, cache })
    return cache
  }

  /** Returns the facts of each name, its caches summed. */
  facts(): FactsByName<Name> {
    const facts: Partial<Record<Name, CacheFacts>> = {}
    for (const { name, cache } of this.#caches) facts[name] = sum(facts[name], cache.facts())
    return facts
  }

  /** Bounds every cache that can shrink to a share of its bytes, and evicts what exceeds it. @param share 0 to 1 */
  limitTo(share: number): void {
    for (const { cache } of this.#caches) cache.limitTo?.(share)
  }
}

function sum(a: CacheFacts | undefined, b: CacheFacts): CacheFacts {
  if (a === undefined) return b
  return {
    sizeBytes: a.sizeBytes + b.sizeBytes,
    maxBytes: a.maxBytes + b.maxBytes,
    hits: a.hits + b.hits,
    misses: a.misses + b.misses,
  }
}
