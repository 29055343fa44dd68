import { closeSync, fstatSync, openSync } from 'node:fs'
import { dataFile } from './environmentFiles.ts'
import { storeFault } from './faults.ts'
import { newestMeta } from './lmdb/damage.ts'
import { olderMark, ownerOf, sumsSuffix } from './lmdb/environment.ts'
import { DamagedPage, PageReader } from './lmdb/pages.ts'
import { piecesSuffix } from './lmdb/pieces.ts'

export type TableStats = { readonly name: string; readonly rows: number; readonly bytes: number }

/** Sizes of an environment as of its last transaction. Tables, free pages and other pages add up to `usedBytes`. */
export type EnvironmentStats = {
  readonly fileBytes: number
  /** Up to the end of the last page ever used. */
  readonly usedBytes: number
  /** Pages that later transactions may reuse. */
  readonly freeBytes: number
  /** Meta pages, the list of tables, the list of free pages, and pages that LMDB has dropped from that list. */
  readonly otherBytes: number
  /** In the order of their names. */
  readonly tables: readonly TableStats[]
}

/** Another process may overwrite pages between two reads; the counters are then read again. */
const reads = 5

/**
 * Reads the counters that LMDB keeps for each table, and its list of free pages: a few pages, whatever the size. Another process may write meanwhile.
 * @throws Fault DATADIR_DAMAGED; the system's error when there is no file
 */
export function environmentStats(dir: string): EnvironmentStats {
  for (let left = reads - 1; ; left--) {
    try {
      return readStats(dir)
    } catch (error) {
      if (!(error instanceof DamagedPage)) throw error
      if (left === 0) throw storeFault('DATADIR_DAMAGED', { dir, reason: error.message }, error)
    }
  }
}

/** @throws DamagedPage */
function readStats(dir: string): EnvironmentStats {
  const file = openSync(dataFile(dir), 'r')
  try {
    const meta = newestMeta(file)
    if (meta === undefined) throw new DamagedPage('the file is empty')
    const { pageSize, lastPage } = meta
    const pages = new PageReader(file, meta)
    const tables = tablesOf(pages, pageSize)
    let free = 0
    for (const _ of pages.freePages()) free++
    const usedBytes = (lastPage + 1) * pageSize
    const freeBytes = free * pageSize
    const otherBytes = usedBytes - freeBytes - tables.reduce((sum, { bytes }) => sum + bytes, 0)
    return { fileBytes: fstatSync(file).size, usedBytes, freeBytes, otherBytes, tables }
  } finally {
    closeSync(file)
  }
}

/** A table has the bytes of its pieces. The mark for older versions is no table. */
function tablesOf(pages: PageReader, pageSize: number): TableStats[] {
  const byName = new Map<string, TableStats>()
  const databases = [...pages.tables()]
  const hasSums = databases.some(({ name }) => name.endsWith(sumsSuffix))
  for (const { name, entries, pages: count } of databases) {
    if (hasSums && name === olderMark.table) continue
    const owner = ownerOf(name)
    const { rows, bytes } = byName.get(owner) ?? { rows: 0, bytes: 0 }
    const isPieces = name.endsWith(piecesSuffix)
    byName.set(owner, { name: owner, rows: isPieces ? rows : rows + entries, bytes: bytes + count * pageSize })
  }
  return [...byName.values()]
}
