import { joinedRows, readIndexMark } from '#blockchain/logIndex/logIndex'
import { deleteBlock, type IndexedBlock, readBlock } from '#blockchain/logIndex/logIndexRows'
import { concatBytes, u64Bytes } from '#lib/bytes'
import type { Kv, KvWriter } from '#store/ports'
import { tables } from '#store/tables'

const markKey = new TextEncoder().encode('logs.index')

/** Joins the single blocks of a log index, so many to a segment, as the index does with many more of them. Some of the newest stay. */
export function joinLogs(kv: Kv, size: number): void {
  kv.write((tx) => {
    const mark = readIndexMark(tx)
    if (mark === undefined) return
    let { open, entries, transactions } = mark
    for (let blocks = blocksFrom(tx, open, size); blocks.length === size; blocks = blocksFrom(tx, open, size)) {
      for (const { key, value } of joinedRows(open, blocks)) tx.put(tables.logIndex.id, key, value)
      for (const block of blocks) {
        deleteBlock(tx, open++)
        entries -= block.entries.length
        transactions -= block.transactions
      }
    }
    tx.put(tables.meta.id, markKey, concatBytes(...[mark.from, open, entries, transactions].map(u64Bytes)))
  })
}

function blocksFrom(tx: KvWriter, first: number, most: number): IndexedBlock[] {
  const blocks: IndexedBlock[] = []
  for (let number = first; blocks.length < most; number++) {
    const block = readBlock(tx, number)
    if (block === undefined) break
    blocks.push(block)
  }
  return blocks
}
