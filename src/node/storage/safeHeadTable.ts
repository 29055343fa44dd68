import type { OrderedTable } from '#consensus/ports'
import { concatBytes } from '#lib/bytes'
import type { Kv } from '#store/ports'

/** Creates the ordered table of the safe head store over one table of the consensus store. */
export function safeHeadTable(kv: Kv, table: number): OrderedTable {
  return {
    floor(key): { readonly key: Uint8Array; readonly value: Uint8Array } | undefined {
      using reader = kv.snapshot()
      for (const row of reader.range(table, { to: justAfter(key), reverse: true, limit: 1 })) return row
      return undefined
    },
    write({ deleteAfter, puts }): void {
      kv.write((tx) => {
        if (deleteAfter) for (const { key } of [...tx.range(table, { from: justAfter(deleteAfter) })]) tx.delete(table, key)
        for (const { key, value } of puts) tx.put(table, key, value)
      })
    },
  }
}

/** Returns the least key that is greater. */
const justAfter = (key: Uint8Array): Uint8Array => concatBytes(key, Uint8Array.of(0))
