import { concatBytes, u64Bytes } from '#lib/bytes'
import type { KvWriter } from '#store/ports'
import { indexHistory, openEnd } from './history.ts'
import { pruneNodeChanges } from './nodeHistory.ts'
import { changesTable, historyIndexTable, readMark, writeMark } from './rows.ts'

/** Rows that are removed between two looks at the time. */
const rowsAtOnce = 64

/**
 * Removes the history that only states before a block need, oldest first, inside a transaction: previous values, their index, and previous trie nodes.
 * States before the block cannot be read from then on, also when rows are left; the next call continues.
 * @param oldest the oldest block whose state is kept, at most the head
 * @param hasTime called after every few rows; false ends the work
 * @returns whether nothing is left to remove
 */
export function pruneHistory(tx: KvWriter, oldest: number, hasTime: () => boolean): boolean {
  const before = readMark(tx, 'oldest') ?? 0
  const kept = Math.max(before, oldest)
  if (kept > before) {
    indexHistory(tx, kept)
    writeMark(tx, 'oldest', kept)
  }
  return pruneValues(tx, kept, hasTime) && pruneNodeChanges(tx, kept, hasTime)
}

/** Removes the previous values of blocks up to `last`, each with its place in the index. */
function pruneValues(tx: KvWriter, last: number, hasTime: () => boolean): boolean {
  let from = u64Bytes(0)
  for (;;) {
    const keys = [...tx.keys(changesTable, { from, to: u64Bytes(last + 1), limit: rowsAtOnce })]
    for (const key of keys) {
      tx.delete(changesTable, key)
      unindex(tx, key.subarray(8), key.subarray(0, 8))
    }
    const newest = keys.at(-1)
    if (newest === undefined || keys.length < rowsAtOnce) return true
    if (!hasTime()) return false
    // past the deleted rows, which this transaction would look at again
    from = newest
  }
}

/** Removes a row's chunk of the index when its last block is pruned. Until then the chunk keeps its pruned blocks, which no read looks for. */
function unindex(tx: KvWriter, prefix: Uint8Array, number: Uint8Array): void {
  const closedKey = concatBytes(prefix, number)
  if (tx.look(historyIndexTable, closedKey, () => true)) {
    tx.delete(historyIndexTable, closedKey)
    return
  }
  const openKey = concatBytes(prefix, openEnd)
  const isLast = tx.look(historyIndexTable, openKey, (chunk) => Buffer.compare(chunk.subarray(-8), number) === 0)
  if (isLast) tx.delete(historyIndexTable, openKey)
}
