import type { Kv } from '#store/ports'

/** Bytes of keys and values in one transaction. */
const transactionBytes = 16 * 2 ** 20

type Row = { readonly table: number; readonly key: Uint8Array; readonly value: Uint8Array }

/** Writes rows in large transactions. Rows of one table should ascend by key: the store then fills its pages from left to right. */
export class BulkWriter {
  readonly #kv: Kv
  #rows: Row[] = []
  #bytes = 0

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** The key and the value must not change afterwards. */
  put(table: number, key: Uint8Array, value: Uint8Array): void {
    this.#rows.push({ table, key, value })
    this.#bytes += key.length + value.length
    if (this.#bytes >= transactionBytes) this.flush()
  }

  flush(): void {
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    if (rows.length === 0) return
    this.#kv.write((tx) => {
      for (const { table, key, value } of rows) tx.put(table, key, value)
    })
  }
}
