import { concatBytes } from '#lib/bytes'
import { Draft, type DraftRow, merged } from './lmdb/draft.ts'
import { openLmdbKv } from './lmdbKv.ts'
import type { Kv, KvRange, KvReader, KvWriter, Row, SnapshotSource } from './ports.ts'
import type { TableSpec } from './tables.ts'

/** Values of the upper tables: a deleted row, or 0x01 ++ the value. */
const deleted = Uint8Array.of(0)
const present = Uint8Array.of(1)
const isDeleted = (value: Uint8Array): boolean => value[0] === 0

/** Rows of the upper tables, over those of the lower ones. */
class OverlayReader implements KvReader {
  readonly #upper: KvReader
  readonly #lower: KvReader
  readonly #tables: ReadonlySet<number>

  constructor(upper: KvReader, lower: KvReader, tables: ReadonlySet<number>) {
    this.#upper = upper
    this.#lower = lower
    this.#tables = tables
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.look(table, key, (value) => value.slice())
  }

  look<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    const found = this.#tables.has(table)
      ? this.#upper.look(table, key, (value) => ({ result: isDeleted(value) ? undefined : use(value.subarray(1)) }))
      : undefined
    return found ? found.result : this.#lower.look(table, key, use)
  }

  peek<T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined {
    return this.look(table, key, use)
  }

  *range(table: number, { limit = Number.POSITIVE_INFINITY, ...open }: KvRange): Generator<Row> {
    let left = limit
    for (const { key, value } of merged(this.#lower.range(table, open), this.#upperRange(table, open), open.reverse ? -1 : 1)) {
      if (value === undefined) continue
      if (left-- <= 0) return
      yield { key, value }
    }
  }

  *keys(table: number, range: KvRange): Generator<Uint8Array> {
    for (const { key } of this.range(table, range)) yield key
  }

  *#upperRange(table: number, range: KvRange): Generator<DraftRow> {
    if (!this.#tables.has(table)) return
    for (const { key, value } of this.#upper.range(table, range)) yield { key, value: isDeleted(value) ? undefined : value.subarray(1) }
  }
}

class OverlayKv implements Kv {
  readonly #upper: Kv
  readonly #lower: SnapshotSource
  readonly #tables: ReadonlySet<number>

  constructor(upper: Kv, lower: SnapshotSource, tables: ReadonlySet<number>) {
    this.#upper = upper
    this.#lower = lower
    this.#tables = tables
  }

  write<T>(run: (tx: KvWriter) => T): T {
    using lower = this.#lower.snapshot()
    return this.#upper.write((tx) => {
      const draft = new Draft(new OverlayReader(tx, lower, this.#tables))
      const result = run(draft)
      for (const { table, rows } of draft.rows()) {
        for (const { key, value } of rows) tx.put(table, key, value ? concatBytes(present, value) : deleted)
      }
      return result
    })
  }

  snapshot(): KvReader & Disposable {
    const [upper, lower] = [this.#upper.snapshot(), this.#lower.snapshot()]
    return Object.assign(new OverlayReader(upper, lower, this.#tables), {
      [Symbol.dispose](): void {
        upper[Symbol.dispose]()
        lower[Symbol.dispose]()
      },
    })
  }

  freeBytes(): number {
    return this.#upper.freeBytes()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upper[Symbol.asyncDispose]()
  }
}

/**
 * Opens tables in a directory over the same tables of another store, which never changes them: writes stay in the directory. Tables that are not in `specs` are
 * those of the other store, and cannot be written.
 * @param lower must stay open longer
 * @throws as `openLmdbKv`
 */
export function openOverlayKv(dir: string, specs: readonly TableSpec[], lower: SnapshotSource): Kv {
  return new OverlayKv(openLmdbKv(dir, specs), lower, new Set(specs.map(({ id }) => id)))
}
