import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { dropDeletion, pruneRuns } from './changeIndex.ts'
import { beginRuns, openEnd } from './history.ts'
import { firstNodeChanges, pruneNodeChanges } from './nodeHistory.ts'
import { changesTable, historyIndexTable, readMark, type StateMark, writeMark } from './rows.ts'

/** Rows removed between two calls of `hasTime`. */
const rowsAtOnce = 64

/** Numbers of the oldest blocks to keep: with values of accounts and slots, and with trie nodes too. */
export type OldestKept = { readonly values: number; readonly nodes: number }

/**
 * Removes the history that only states before a block need, oldest first, inside a transaction: previous trie nodes, previous values and their index.
 * States before the block cannot be read from then on, also when rows are left; the next call continues.
 * @param oldest at most the head
 * @param hasTime called after every few rows; false ends the work
 * @returns whether nothing is left to remove
 */
export function pruneHistory(tx: KvWriter, oldest: OldestKept, hasTime: () => boolean): boolean {
  const before = readMark(tx, 'oldest') ?? 0
  const values = raise(tx, 'oldest', oldest.values)
  if (values > before) beginRuns(tx)
  const nodes = raise(tx, 'oldestNodes', Math.max(oldest.nodes, values))
  return pruneNodeChanges(tx, nodes, hasTime) && pruneRuns(tx, values, hasTime) && pruneValues(tx, values, hasTime)
}

/** Returns whether `pruneHistory` has nothing to do. */
export function isPruned(reader: KvReader, { values, nodes }: OldestKept): boolean {
  const isMarked = (readMark(reader, 'oldest') ?? 0) >= values && (readMark(reader, 'oldestNodes') ?? 0) >= nodes
  return isMarked && firstChanges(reader) > values && (firstNodeChanges(reader) ?? nodes + 1) > nodes
}

/** Returns the first block with previous values; infinity: there is none. */
export function firstChanges(reader: KvReader): number {
  const [key] = reader.keys(changesTable, { limit: 1 })
  return key ? u64FromBytes(key.subarray(0, 8)) : Number.POSITIVE_INFINITY
}

/** Raises a mark to a number. @returns the mark */
function raise(tx: KvWriter, mark: StateMark, to: number): number {
  const before = readMark(tx, mark) ?? 0
  if (to > before) writeMark(tx, mark, to)
  return Math.max(before, to)
}

/** Removes the previous values of blocks up to `last`, each with its place in the index. */
function pruneValues(tx: KvWriter, last: number, hasTime: () => boolean): boolean {
  const withoutRuns = readMark(tx, 'runs') ?? 0
  let from = u64Bytes(0)
  for (;;) {
    const keys = [...tx.keys(changesTable, { from, to: u64Bytes(last + 1), limit: rowsAtOnce })]
    for (const key of keys) {
      tx.delete(changesTable, key)
      const [place, number] = [key.subarray(8), key.subarray(0, 8)]
      if (u64FromBytes(number) > withoutRuns) dropDeletion(tx, { table: place[0] ?? 0, key: place.subarray(1) }, number)
      else unindex(tx, place, number)
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
  const openKey = concatBytes(prefix, openEnd)
  const order = tx.look(historyIndexTable, openKey, (chunk) =>
    Buffer.compare(number, chunk.subarray(0, 8)) < 0 ? 'before' : Buffer.compare(number, chunk.subarray(-8)) === 0 ? 'last' : 'inside',
  )
  if (order === 'last') tx.delete(historyIndexTable, openKey)
  if (order === 'last' || order === 'inside') return
  const closedKey = concatBytes(prefix, number)
  if (tx.look(historyIndexTable, closedKey, () => true)) tx.delete(historyIndexTable, closedKey)
}
