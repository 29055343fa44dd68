import { emptyBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { oldestProof, oldestState } from './chainState.ts'
import { readDigests } from './digests/digests.ts'
import { popHistory } from './history.ts'
import { MovedNodeChanges } from './nodeHistory.ts'
import { accountNodesTable, changeKey, changesTable, decodeBefore, readMark, storageNodesTable, writeMark } from './rows.ts'

/** Returns how many blocks have their node changes among their other changes, as schema 3 wrote them. */
export function unmovedBlocks(reader: KvReader): number {
  return Math.max(0, lastUnmoved(reader) - oldestState(reader))
}

/** Returns the last block with such changes. A store to which schema 4 has added no block has no mark. */
const lastUnmoved = (reader: KvReader): number => readMark(reader, 'nodes') ?? readMark(reader, 'head') ?? 0

/**
 * Moves the node changes that schema 3 wrote to the table of node history, the youngest block first, inside a transaction. The store is whole after each
 * block: the mark `state.nodes` separates the two formats, and goes down with the moved blocks.
 * @param hasTime called after each block; false ends the work
 * @returns whether nothing is left to move
 */
export function moveNodeChanges(tx: KvWriter, hasTime: () => boolean): boolean {
  const oldest = oldestState(tx)
  let number = lastUnmoved(tx)
  for (; number > oldest; ) {
    moveBlock(tx, number)
    writeMark(tx, 'nodes', --number)
    if (!hasTime()) return number <= oldest
  }
  return true
}

function moveBlock(tx: KvWriter, number: number): void {
  const isIndexed = number <= (readMark(tx, 'indexed') ?? 0)
  const moved = new MovedNodeChanges(number, readDigests(tx).at(number))
  for (const table of [accountNodesTable, storageNodesTable]) {
    const range = { from: changeKey(number, table, emptyBytes), to: changeKey(number, table + 1, emptyBytes) }
    for (const { key: at, value } of tx.range(tables.changes.id, range)) {
      const key = at.subarray(9)
      moved.add(table, key, decodeBefore(value))
      tx.delete(changesTable, at)
      // blocks are moved from the last one on, so this one is the last in the index of the row
      if (isIndexed) popHistory(tx, table, key)
    }
  }
  // trie nodes of older blocks are pruned
  const withNodes = oldestProof(tx)
  if (number > withNodes) moved.writeTo(tx, { head: readMark(tx, 'head') ?? number, first: withNodes + 1 })
}
