import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { blockTables, putSegment, readPruned, type SegmentRecord, segmentFileName, writePruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { encodeHeader } from '#types/header'
import type { Hash } from '#types/ids'
import type { Log } from '#types/log'
import { readCanonicalHash, readHeader, storedReceipts } from '../chainStore.ts'
import { fillLogIndex, pruneLogIndex, readIndexMark, readLogsPruned } from '../logIndex/logIndex.ts'
import { encodeReceiptRow } from '../receiptRows.ts'
import type { BaseBlock, WholeBlock } from './baseBlocks.ts'
import { bodyRow, putLookups, segmentOf } from './baseRows.ts'

/** The lowest block of a chain that is stored with all its parts. */
export type LowestWhole = BlockId & { readonly parentHash: Hash }

/** Returns the lowest block that is stored with all its parts; undefined when not even the newest one is. */
export function lowestWhole(reader: KvReader): LowestWhole | undefined {
  const number = Math.max(...blockTables.map(({ id }) => readPruned(reader, id)))
  const hash = readCanonicalHash(reader, number)
  const header = hash && readHeader(reader, { number, hash })
  return hash && header && { number, hash, parentHash: header.parentHash }
}

/**
 * Adds finalized blocks below the lowest whole one of a chain: segment files, the rows that find them, and the index of their logs. Effects, in order: 1 the
 * files, 2 one transaction with all rows and marks. After a kill before 2 the next start removes the files.
 * @param blocks verified, ascending; the last one is the parent of `lowestWhole`
 * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal)
 */
export function addOlderBlocks(
  { kv, segmentsDir, genesis }: { readonly kv: Kv; readonly segmentsDir: string; readonly genesis: BlockId },
  blocks: readonly WholeBlock[],
): void {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) return
  const records: SegmentRecord[] = []
  try {
    records.push(...segmentOf(segmentsDir, tables.headers.id, genesis, blocks, last.number + 1, ({ header }) => encodeHeader(header)))
    records.push(...segmentOf(segmentsDir, tables.bodies.id, genesis, blocks, last.number + 1, bodyRow))
    const receiptRow = ({ header, executed = [] }: BaseBlock): Uint8Array =>
      encodeReceiptRow(header.timestamp, storedReceipts({ executed }))
    records.push(...segmentOf(segmentsDir, tables.receipts.id, genesis, blocks, last.number + 1, receiptRow))
    const logs = new Map(blocks.map(({ number, executed }) => [number, executed.map(({ receipt }) => receipt.logs)]))
    kv.write((tx) => {
      for (const record of records) putSegment(tx, record)
      for (const block of blocks) putLookups(tx, block)
      for (const { id } of blockTables) writePruned(tx, id, first.number)
      addLogs(tx, first.number, last.number, (number) => logs.get(number))
    })
  } catch (error) {
    for (const record of records) rmSync(join(segmentsDir, segmentFileName(record)), { force: true })
    throw error
  }
}

/** Adds the logs of blocks, unless the index has been pruned above them meanwhile. */
function addLogs(tx: KvWriter, first: number, last: number, logsOf: (number: number) => readonly (readonly Log[])[] | undefined): void {
  if (readIndexMark(tx)?.from !== last + 1 || readLogsPruned(tx) > last + 1) return
  pruneLogIndex(tx, { from: first, keys: [] })
  const always = (): boolean => true
  while ((readIndexMark(tx)?.from ?? first) > first) fillLogIndex(tx, logsOf, always)
}
