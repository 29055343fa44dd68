import { oldestState } from '#state/chainState'
import { stateFault } from '#state/faults'
import { HistoricalRows } from '#state/history'
import { HistoryCache } from '#state/historyCache'
import { readMark } from '#state/rows'
import type { KvReader, Row, SnapshotSource } from '#store/ports'

/** Rows read in one read transaction: some milliseconds. */
const rowsAtOnce = 512

/**
 * Iterates over the rows of a table as of a block, in key order, while later blocks are written. Each few rows are read in a transaction of their own, so
 * that the writer can reuse the pages it frees.
 * @param table accounts or storage
 * @throws Fault HISTORY_PRUNED (reset) when the state of the block is pruned meanwhile
 */
export function* rowsAt(source: SnapshotSource, number: number, table: number): Generator<Row> {
  for (let from: Uint8Array | undefined = new Uint8Array(1); from !== undefined; ) {
    const read: Batch = readBatch(source, number, table, from)
    yield* read.rows
    from = read.next
  }
}

type Batch = { readonly rows: readonly Row[]; readonly next: Uint8Array | undefined }

function readBatch(source: SnapshotSource, number: number, table: number, from: Uint8Array): Batch {
  using reader = source.snapshot()
  const oldest = oldestState(reader)
  if (number < oldest) throw stateFault('HISTORY_PRUNED', { what: 'state', number, oldest })
  const next = [...reader.keys(table, { from, limit: rowsAtOnce + 1 })][rowsAtOnce]
  return { rows: [...stateRows(reader, number).range(table, from, next)], next }
}

function stateRows(reader: KvReader, number: number): HistoricalRows {
  return new HistoricalRows(reader, number, readMark(reader, 'head') ?? number, new HistoryCache())
}
