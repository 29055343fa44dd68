import type { KvRange, KvReader } from '#store/ports'

/** A snapshot with several users. It ends when its owner and all of them have disposed of it. */
export class SharedSnapshot implements Disposable {
  readonly #reader: KvReader & Disposable
  #users = 1

  constructor(reader: KvReader & Disposable) {
    this.#reader = reader
  }

  /** Returns the snapshot for one more user. */
  lend(): KvReader & Disposable {
    this.#users++
    return new Lent(this.#reader, () => this[Symbol.dispose]())
  }

  [Symbol.dispose](): void {
    if (--this.#users === 0) this.#reader[Symbol.dispose]()
  }
}

class Lent implements KvReader, Disposable {
  readonly #reader: KvReader
  readonly #end: () => void
  #isDone = false

  constructor(reader: KvReader, end: () => void) {
    this.#reader = reader
    this.#end = end
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#reader.get(table, key)
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.#reader.look(table, key, use)
  }

  range(table: number, range: KvRange): Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
    return this.#reader.range(table, range)
  }

  keys(table: number, range: KvRange): Iterable<Uint8Array> {
    return this.#reader.keys(table, range)
  }

  [Symbol.dispose](): void {
    if (!this.#isDone) this.#end()
    this.#isDone = true
  }
}
