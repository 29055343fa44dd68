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
