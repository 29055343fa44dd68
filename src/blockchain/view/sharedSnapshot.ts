import type { KvRange, KvReader } from '#store/ports'

/** A snapshot that several look at one after the other, the first from the start on. It ends when it is retired and the last of them has left. */
export class SharedSnapshot implements KvReader, Disposable {
  readonly #snapshot: KvReader & Disposable
  #users = 1
  #isRetired = false

  constructor(snapshot: KvReader & Disposable) {
    this.#snapshot = snapshot
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#snapshot.get(table, key)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.#snapshot.look(table, key, use)
  }

  range(table: number, range: KvRange): ReturnType<KvReader['range']> {
    return this.#snapshot.range(table, range)
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    return this.#snapshot.keys(table, range)
  }

  /** One more looks at it. */
  enter(): void {
    this.#users++
  }

  /** Nobody new comes. */
  retire(): void {
    this.#isRetired = true
    if (this.#users === 0) this.#snapshot[Symbol.dispose]()
  }

  /** One of those who look at it leaves. */
  [Symbol.dispose](): void {
    this.#users--
    if (this.#isRetired && this.#users === 0) this.#snapshot[Symbol.dispose]()
  }
}
