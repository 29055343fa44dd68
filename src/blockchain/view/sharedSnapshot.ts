import type { KvRange, KvReader } from '#store/ports'

/** A snapshot shared by several users; its creator is the first. Disposed when it is retired and the last user has left. */
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

  /** Adds a user. */
  enter(): void {
    this.#users++
  }

  /** Called when no further user is added: disposed once the last user leaves. */
  retire(): void {
    this.#isRetired = true
    if (this.#users === 0) this.#snapshot[Symbol.dispose]()
  }

  /** Removes a user. */
  [Symbol.dispose](): void {
    this.#users--
    if (this.#isRetired && this.#users === 0) this.#snapshot[Symbol.dispose]()
  }
}
