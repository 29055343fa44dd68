import { compareBytes, equalBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import type { KvReader, Row } from '#store/ports'
import type { Difference } from '#store/rowCheck'
import type { TableSpec } from '#store/tables'

const noValue = new Uint8Array(0)
const lowest = Uint8Array.of(0)

/** A position in a table that moves up. Rows that are passed without being taken are reported: nothing refers to them. */
export class RowCursor implements Disposable {
  readonly #reader: KvReader
  readonly #table: TableSpec
  readonly #report: (difference: Difference) => void
  readonly #keysOnly: boolean
  #rows: Iterator<Row>
  /** The row at the position; undefined at the end. */
  row: Row | undefined

  constructor(
    reader: KvReader,
    table: TableSpec,
    options: { readonly from: Uint8Array; readonly keysOnly: boolean; readonly report: (difference: Difference) => void },
  ) {
    this.#reader = reader
    this.#table = table
    this.#report = options.report
    this.#keysOnly = options.keysOnly
    this.#rows = this.#open(options.from)
    this.next()
  }

  next(): void {
    const { done, value } = this.#rows.next()
    this.row = done ? undefined : value
  }

  /** Moves to the first row at or above a key without reporting rows; undefined: to the end. The position may move down. */
  seek(key: Uint8Array | undefined): void {
    this.#rows.return?.()
    this.row = undefined
    if (key === undefined) return
    this.#rows = this.#open(key)
    this.next()
  }

  /** Moves up to a key, or to the end. Reports the rows below it. */
  passTo(key: Uint8Array | undefined): void {
    while (this.row !== undefined && (key === undefined || compareBytes(this.row.key, key) < 0)) {
      this.reportExtra(this.row.key)
      this.next()
    }
  }

  /** Reports the rows below a key and takes the row of the key. */
  take(key: Uint8Array): void {
    this.passTo(key)
    if (this.row !== undefined && equalBytes(this.row.key, key)) this.next()
  }

  reportExtra(key: Uint8Array): void {
    this.#report({ table: this.#table.name, key: toHex(key), expected: 'no row', found: 'a row' })
  }

  [Symbol.dispose](): void {
    this.#rows.return?.()
  }

  #open(from: Uint8Array): Iterator<Row> {
    const range = { from: from.length > 0 ? from : lowest }
    if (this.#keysOnly) return withoutValues(this.#reader.keys(this.#table.id, range))
    return this.#reader.range(this.#table.id, range)[Symbol.iterator]()
  }
}

function* withoutValues(keys: Iterable<Uint8Array>): Generator<Row> {
  for (const key of keys) yield { key, value: noValue }
}
