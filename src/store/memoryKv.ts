import { requireKey } from './keys.ts'
import { type Row, SortedRows, type SortedRowsEdit } from './memory/sortedRows.ts'
import type { Kv, KvRange, KvReader, KvWriter } from './ports.ts'

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
  readonly #mayRead: () => void

  constructor(tables: Versions, mayRead: () => void) {
    this.#tables = tables
    this.#mayRead = mayRead
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    this.#mayRead()
    return this.#tables.get(table)?.get(requireKey(key))?.slice()
  }

  range(table: number, range: KvRange): Iterable<Row> {
    this.#mayRead()
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
  #isWriting = false

  write<T>(run: (tx: KvWriter) => T): T {
    this.#mayUse()
    this.#isWriting = true
    try {
      const writer = new MemoryWriter(this.#tables)
      const result = run(writer)
      this.#tables = writer.commit()
      return result
    } finally {
      this.#isWriting = false
    }
  }

  snapshot(): KvReader & Disposable {
    this.#mayUse()
    return new MemoryReader(this.#tables, () => this.#mayUse())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tables = new Map()
  }

  #mayUse(): void {
    if (this.#isWriting) throw new Error('kv: inside a write only its transaction is used')
  }
}

/** Tables in memory, with the semantics of those on disk: for tests, and for chains that need not stay. */
export function createMemoryKv(): Kv {
  return new MemoryKv()
}
