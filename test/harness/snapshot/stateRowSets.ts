import { oldestState } from '#state/chainState'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { rowsOf, stateTables } from './loadRecorded.ts'

/** Throws unless each row of the state, codes apart, is one of the expected state. */
export function requireOnlyExecuted(found: KvReader, expected: KvReader): void {
  for (const table of stateTables.filter((id) => id !== tables.code.id)) {
    const wanted = new Set(rowsOf(expected, table))
    const other = rowsOf(found, table).find((row) => !wanted.has(row))
    if (other) throw new Error(`table ${table} has a row that is not of the state: ${other}`)
  }
}

/** Throws unless a store has the rows of the expected state. It may have more codes. */
export function requireExecuted(found: KvReader, expected: KvReader): void {
  requireOnlyExecuted(found, expected)
  for (const table of stateTables) {
    const rows = new Set(rowsOf(found, table))
    const missing = rowsOf(expected, table).find((row) => !rows.has(row))
    if (missing) throw new Error(`table ${table} lacks a row: ${missing}`)
  }
}

/** Values before blocks. The execution also marks rows as deleted that a block wiped and wrote again. */
const historyOf = (reader: KvReader): Set<string> => new Set(rowsOf(reader, tables.changes.id).map((row) => row.replace(/ 03/, ' 02')))

/** Throws unless each value before a block is one of the executed chain. */
export function requireOnlyHistory(found: KvReader, expected: KvReader): void {
  const wanted = historyOf(expected)
  const other = [...historyOf(found)].find((row) => !wanted.has(row))
  if (other) throw new Error(`a value before a block is not that of the chain: ${other}`)
}

/** Returns the number of the block in a row of `changes`. */
const blockOf = (row: string): number => Number.parseInt(row.slice(0, 16), 16)

/**
 * Throws unless a store has the values before each block of the executed chain, and their states can be read.
 * @param oldest number of the oldest block whose state the values lead to
 */
export function requireHistory(found: KvReader, expected: KvReader, oldest: number): void {
  requireOnlyHistory(found, expected)
  const wanted = [...historyOf(expected)].filter((row) => blockOf(row) > oldest)
  const missing = wanted.length - historyOf(found).size
  if (missing !== 0) throw new Error(`${missing} values before blocks are missing`)
  if (oldestState(found) !== oldest) throw new Error(`the oldest state is that of block ${oldestState(found)}, not ${oldest}`)
}
