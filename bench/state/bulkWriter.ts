import { mkdirSync } from 'node:fs'
import { tables } from '#store/tables'
import { openTables, type Root, type Tables } from '../../src/store/lmdb/environment.ts'

/** Bytes of keys and values in one transaction. */
const transactionBytes = 32 * 2 ** 20
/** Committed when the call returns, flushed to the disk in the background, as a node's transactions. */
const commitNow = 1 | 2 | 0x10000
/** Bytes before each row in the buffer: table, length of the key, length of the value. */
const headBytes = 6

/**
 * Writes rows in large transactions. Rows of one table should ascend by key: the store then fills its pages from left to right. A transaction's rows
 * wait in one buffer, not as objects.
 */
export class BulkWriter {
  readonly #root: Root
  readonly #tables: Tables
  readonly #buffer = Buffer.alloc(transactionBytes + 2 ** 20)
  #filled = 0

  constructor(root: Root, all: Tables) {
    this.#root = root
    this.#tables = all
  }

  put(table: number, key: Uint8Array, value: Uint8Array): void {
    const buffer = this.#buffer
    const at = this.#filled
    buffer[at] = table
    buffer[at + 1] = key.length
    buffer.writeUInt32LE(value.length, at + 2)
    buffer.set(key, at + headBytes)
    buffer.set(value, at + headBytes + key.length)
    this.#filled = at + headBytes + key.length + value.length
    if (this.#filled >= transactionBytes) this.flush()
  }

  flush(): void {
    const buffer = this.#buffer
    this.#root.transactionSync(() => {
      for (let at = 0; at < this.#filled; ) {
        const keyFrom = at + headBytes
        const valueFrom = keyFrom + (buffer[at + 1] ?? 0)
        const end = valueFrom + buffer.readUInt32LE(at + 2)
        this.#tables.of(buffer[at] ?? 0).putSync(buffer.subarray(keyFrom, valueFrom), buffer.subarray(valueFrom, end))
        at = end
      }
    }, commitNow)
    this.#filled = 0
  }
}

/** Writes rows into new tables of the chain. No other process may use the directory. */
export async function writeRows<T>(dir: string, write: (rows: BulkWriter) => T): Promise<T> {
  mkdirSync(dir, { recursive: true })
  const { root, tables: all } = openTables(dir, Object.values(tables), 'writer')
  try {
    const rows = new BulkWriter(root, all)
    const result = write(rows)
    rows.flush()
    return result
  } finally {
    await root.close()
  }
}
