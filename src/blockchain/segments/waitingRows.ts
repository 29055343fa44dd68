import { u64Bytes } from '#lib/bytes'
import type { KvRange, KvReader } from '#store/ports'
import { blockTables, readMoved, type SegmentRecord, segmentWith } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { numberInKey, rowRange } from '../logIndex/logIndexRows.ts'
import type { StepLimits } from './rowPruner.ts'

/** Keys of rows of one table. */
type TableRows = { readonly table: number; readonly keys: readonly Uint8Array[] }

/** Returns keys of rows that are in segment files, of one table; undefined when there are none. */
export function waitingRows(reader: KvReader, limits: StepLimits): TableRows | undefined {
  const range = { to: u64Bytes(readMoved(reader)) }
  for (const { id: table } of blockTables) {
    const keys = keysIn(reader, table, range, limits)
    if (keys.length > 0) return { table, keys }
  }
  return waitingLogs(reader, limits)
}

/**
 * Returns the same of the log index, for one file: block ends, then pages. A reader that finds a segment's ends in the table reads its pages there, so they go
 * last.
 */
function waitingLogs(reader: KvReader, limits: StepLimits): TableRows | undefined {
  const table = tables.logIndex.id
  const record = waitingFile(reader, table)
  if (record === undefined) return undefined
  for (const kind of ['segment', 'page'] as const) {
    const keys = keysIn(reader, table, rowRange(kind, record.first, record.last + 1), limits)
    if (keys.length > 0) return { table, keys }
  }
  return undefined
}

/** Returns the segment file that has the lowest rows of the table. Rows of a file above unmoved segments wait until those have moved. */
function waitingFile(reader: KvReader, table: number): SegmentRecord | undefined {
  for (const kind of ['segment', 'page'] as const) {
    const [lowest] = reader.keys(table, { ...rowRange(kind, 0), limit: 1 })
    const record = lowest && segmentWith(reader, table, numberInKey(lowest))
    if (record) return record
  }
  return undefined
}

function keysIn(reader: KvReader, table: number, range: KvRange, { rowsIn, hasTime }: StepLimits): Uint8Array[] {
  const keys: Uint8Array[] = []
  for (const key of reader.keys(table, { ...range, limit: rowsIn(table) })) {
    keys.push(key)
    if (!hasTime()) break
  }
  return keys
}
