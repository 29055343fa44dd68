import type { Kv, KvRange, KvReader, KvWriter, Row } from '#store/ports'
import { requireKey } from '../../../src/store/keys.ts'
import { SortedRows, type SortedRowsEdit } from '../../../src/store/lmdb/sortedRows.ts'
import { requireUsable, type Usage } from '../../../src/store/usage.ts'

type Versions = ReadonlyMap<number, SortedRows>

function* limited(rows: Iterable<Row>, limit: number): Generator<Row> {
  let left = limit
  if (left <= 0) return
  for (const { key, value } of rows) {
    yield { key: key.slice(), value: value.slice() }
    if (--left === 0) return
  }
}

function rangeOf(rows: SortedRows, { from, to, reverse = false, limit = Number.POSITIVE_INFINITY }: KvRange): Iterable<Row> {
  return limited(rows.range(from, to, reverse), limit)
}

class MemoryReader implements KvReader, Disposable {
  readonly #tables: Versions
  readonly #usage: Usage

  constructor(tables: Versions, usage: Usage) {
    this.#tables = tables
    this.#usage = usage
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    requireUsable(this.#usage)
    return this.#tables.get(table)?.get(requireKey(key))?.slice()
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const value = this.get(table, key)
    return value && use(value)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.look(table, key, use)
  }

  range(table: number, range: KvRange): Iterable<Row> {
    requireUsable(this.#usage)
    return rangeOf(this.#tables.get(table) ?? SortedRows.empty, range)
  }

  *keys(table: number, range: KvRange): Iterable<Uint8Array> {
    for (const { key } of this.range(table, range)) yield key
  }

  [Symbol.dispose](): void {}
}

class MemoryWriter implements KvWriter {
  readonly #before: Versions
  readonly #edits = new Map<number, SortedRowsEdit>()

  constructor(before: Versions) {
    this.#before = before
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return (this.#edits.get(table) ?? this.#before.get(table))?.get(requireKey(key))?.slice()
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const value = this.get(table, key)
    return value && use(value)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.look(table, key, use)
  }

  range(table: number, range: KvRange): Iterable<Row> {
    return rangeOf(this.#edits.get(table)?.done() ?? this.#before.get(table) ?? SortedRows.empty, range)
  }

  *keys(table: number, range: KvRange): Iterable<Uint8Array> {
    for (const { key } of this.range(table, range)) yield key
  }

  put(table: number, key: Uint8Array, value: Uint8Array): void {
    this.#edit(table).put(requireKey(key), value)
  }

  delete(table: number, key: Uint8Array): void {
    this.#edit(table).delete(requireKey(key))
  }

  commit(): Versions {
    const after = new Map(this.#before)
    for (const [table, edit] of this.#edits) after.set(table, edit.done())
    return after
  }

  #edit(table: number): SortedRowsEdit {
    const known = this.#edits.get(table)
    if (known) return known
    const edit = (this.#before.get(table) ?? SortedRows.empty).edit()
    this.#edits.set(table, edit)
    return edit
  }
}

class MemoryKv implements Kv {
  #tables: Versions = new Map()
  readonly #usage: Usage = { isWriting: false, isClosed: false }

  write<T>(run: (tx: KvWriter) => T): T {
    requireUsable(this.#usage)
    this.#usage.isWriting = true
    try {
      const writer = new MemoryWriter(this.#tables)
      const result = run(writer)
      this.#tables = writer.commit()
      return result
    } finally {
      this.#usage.isWriting = false
    }
  }

  snapshot(): KvReader & Disposable {
    requireUsable(this.#usage)
    return new MemoryReader(this.#tables, this.#usage)
  }

  freeBytes(): number {
    return Number.POSITIVE_INFINITY
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#usage.isClosed = true
    this.#tables = new Map()
  }
}

/** Creates tables in memory with the semantics of the tables on disk, for tests and temporary chains. */
export function createMemoryKv(): Kv {
  return new MemoryKv()
}
