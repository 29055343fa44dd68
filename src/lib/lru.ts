/** Cache bounded in bytes that evicts the least recently read entries first. */
export class Lru<K, V> {
  readonly #entries = new Map<K, { value: V; sizeBytes: number }>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Stores an entry. An entry larger than the whole cache is not stored. */
  set(key: K, value: V, sizeBytes: number): void {
    this.delete(key)
    if (sizeBytes > this.#maxBytes) return
    this.#entries.set(key, { value, sizeBytes })
    this.#bytes += sizeBytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.sizeBytes
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
