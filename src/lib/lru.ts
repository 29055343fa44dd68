type Entry<K, V> = {
  readonly key: K
  readonly value: V
  readonly sizeBytes: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

/** Size of a cache, and its reads since its creation. */
export type CacheFacts = {
  readonly sizeBytes: number
  readonly maxBytes: number
  /** reads that found an entry */
  readonly hits: number
  readonly misses: number
}

/**
 * Cache bounded in bytes that evicts the least recently read entries first. The order is a list of its own: in that of a `Map`, the search for the oldest
 * entry passes the places of all entries that were moved or deleted.
 */
export class Lru<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>()
  readonly #givenBytes: number
  #maxBytes: number
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined
  #bytes = 0
  #hits = 0
  #misses = 0

  constructor(maxBytes: number) {
    this.#givenBytes = maxBytes
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  facts(): CacheFacts {
    return { sizeBytes: this.#bytes, maxBytes: this.#maxBytes, hits: this.#hits, misses: this.#misses }
  }

  /** Sets the bound to a share of the bytes that the cache was created with, and evicts what exceeds it. @param share 0 to 1 */
  limitTo(share: number): void {
    this.#maxBytes = this.#givenBytes * share
    this.#evict()
  }

  /** Returns an entry without counting the read or changing the order. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) {
      this.#misses++
      return undefined
    }
    this.#hits++
    if (entry !== this.#newest) {
      this.#unlink(entry)
      this.#append(entry)
    }
    return entry.value
  }

  /** Stores an entry. An entry larger than the whole cache is not stored. */
  set(key: K, value: V, sizeBytes: number): void {
    this.delete(key)
    if (sizeBytes > this.#maxBytes) return
    const entry: Entry<K, V> = { key, value, sizeBytes, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    this.#bytes += sizeBytes
    this.#evict()
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#unlink(entry)
    this.#bytes -= entry.sizeBytes
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
    this.#bytes = 0
  }

  #evict(): void {
    while (this.#oldest && this.#bytes > this.#maxBytes) this.delete(this.#oldest.key)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
