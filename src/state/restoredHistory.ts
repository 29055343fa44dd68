import type { KvWriter } from '#store/ports'
import { oldestProof } from './chainState.ts'
import { ChangedRows } from './changeIndex.ts'
import { readDigests } from './digests/digests.ts'
import { changesOf, type RowChange } from './history.ts'
import { changeKey, changesTable, encodeChange, writeMark } from './rows.ts'

/*
 * History of values below the block with which a chain began, as another node gives it. It is written in three stages, and no read sees any of it before the
 * last one: 1 changes of blocks, newest first, 2 their index, oldest first, as the commits of the blocks would have written it, 3 marks.
 */

/** Writes what a block changed, verified, without its place in the index. */
export function putRestoredChanges(tx: KvWriter, number: number, changes: Iterable<RowChange>): void {
  for (const { table, key, before, isDeleted = false } of changes) {
    tx.put(changesTable, changeKey(number, table, key), encodeChange(before, isDeleted))
  }
}

/** Writes the place of a block in the index, after that of the block before it. */
export function indexRestored(tx: KvWriter, number: number): void {
  const changed = new ChangedRows(number, readDigests(tx).at(number))
  for (const row of changesOf(tx, number)) changed.add(tx, row, row.isDeleted === true)
  changed.writeTo(tx)
}

/** Makes the state after a block the oldest one that can be read: the changes and the index of all later blocks are written. Trie nodes are not restored. */
export function endRestoredHistory(tx: KvWriter, oldest: number): void {
  writeMark(tx, 'oldestNodes', oldestProof(tx))
  for (const mark of ['oldest', 'indexed', 'runs', 'nodes'] as const) writeMark(tx, mark, oldest)
}
