import type { KvRange, KvReader, RowReader } from '#store/ports'

/** A snapshot shared by several users; its creator is the first. Disposed when it is retired and the last user has left. */
export class SharedSnapshot implements KvReader, Disposable {
  readonly #snapshot: KvReader & Disposable
  #users = 1
  #isRetired = false
  readonly #attached = new DisposableStack()

  constructor(snapshot: KvReader & Disposable) {
    this.#snapshot = snapshot
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#snapshot.get(table, key)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.#snapshot.look(table, key, use)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.#snapshot.peek(table, key, use)
  }

  range(table: number, range: KvRange): ReturnType<KvReader['range']> {
    return this.#snapshot.range(table, range)
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    return this.#snapshot.keys(table, range)
  }

  get moved(): RowReader | undefined {
    return this.#snapshot.moved
  }

  /** Adds a user. */
  enter(): void {
    this.#users++
  }

  /** Disposes of a resource together with the snapshot. */
  attach<T extends Disposable>(resource: T): T {
    return this.#attached.use(resource)
  }

  /** Called when no further user is added: disposed once the last user leaves. */
  retire(): void {
    this.#isRetired = true
    this.#end()
  }

  /** Removes a user. */
  [Symbol.dispose](): void {
    this.#users--
    this.#end()
  }

  #end(): void {
    if (!this.#isRetired || this.#users > 0) return
    this.#attached.dispose()
    this.#snapshot[Symbol.dispose]()
  }
}
