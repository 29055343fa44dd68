import type { KvReader } from '#store/ports'
import { changesOf, HistoricalRows } from './history.ts'
import { HistoryCache } from './historyCache.ts'
import { accountsTable, latestRows, readMark, storageTable } from './rows.ts'

/** Accounts and slots that a block added, less those that it removed. */
export type AddedRows = { readonly accounts: number; readonly slots: number }

/**
 * Counts the accounts and slots that a block added. Cost: a read of an old state for each of its changes, some 20 µs each.
 * @param number above the oldest state, at most the head
 */
export function addedRows(reader: KvReader, number: number): AddedRows {
  const head = readMark(reader, 'head') ?? 0
  const after = number === head ? latestRows(reader) : new HistoricalRows(reader, number, head, new HistoryCache())
  const added = { accounts: 0, slots: 0 }
  for (const { table, key, before } of changesOf(reader, number)) {
    if (table !== accountsTable && table !== storageTable) continue
    const change = Number(after.get(table, key) !== undefined) - Number(before !== undefined)
    added[table === accountsTable ? 'accounts' : 'slots'] += change
  }
  return added
}
