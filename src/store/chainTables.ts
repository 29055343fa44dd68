import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock'
import { storeFault } from './faults.ts'
import type { OnDamaged } from './lmdb/environment.ts'
import { openLmdbKv, openLmdbWriter } from './lmdbKv.ts'
import { openForeignReader, openLmdbReader } from './lmdbReader.ts'
import type { Kv, KvReader, SnapshotSource } from './ports.ts'
import { chainSchema, rejectNewer } from './schema.ts'
import { isTemporaryName } from './segments/frameWriter.ts'
import { readWithSegments, withSegments } from './segments/segmentedKv.ts'
import { SegmentFiles } from './segments/segmentFiles.ts'
import {
  blockTables,
  isSegmentFileName,
  readMoved,
  readPruned,
  segmentFileName,
  segmentsOf,
  segmentTables,
} from './segments/segmentRecords.ts'
import { tables } from './tables.ts'

/** Returns the directory of segment files, inside that of the tables. */
export const segmentsDir = (dir: string): string => join(dir, 'segments')

const specs = Object.values(tables)
const filesOf = (dir: string): SegmentFiles => new SegmentFiles(segmentsDir(dir), systemClock)

/**
 * Opens the tables of the chain and their segment files for the process that writes them. Removes segment files without a row, which a kill may leave.
 * Other files and folders beside them stay.
 * @param onRow as of `openLmdbKv`
 * @throws as `openLmdbKv`; Fault SCHEMA_NEWER, before a file is removed; SEGMENT_DAMAGED when a recorded file does not exist
 */
export function openChainKv(dir: string, onRow?: () => void): Kv {
  const kv = openLmdbKv(dir, specs, onRow)
  try {
    agreeOnFiles(kv, segmentsDir(dir))
    return withSegments(kv, filesOf(dir))
  } catch (error) {
    void kv[Symbol.asyncDispose]()
    throw error
  }
}

/** Opens the tables of an open `Kv` of this process for writes in another thread, as `openLmdbWriter` does. */
export function openChainWriter(dir: string, onRow: () => void): Kv {
  return withSegments(openLmdbWriter(dir, specs, onRow), filesOf(dir))
}

/** Opens a source of snapshots of the chain in another thread, as `openLmdbReader` does. */
export function openChainReader(dir: string): SnapshotSource {
  return readWithSegments(openLmdbReader(dir, specs), filesOf(dir))
}

/** Opens a source of snapshots of the chain in another process, as `openForeignReader` does. */
export function openForeignChainReader(dir: string, onDamaged?: OnDamaged): SnapshotSource {
  return readWithSegments(openForeignReader(dir, specs, onDamaged), filesOf(dir))
}

const isOwnName = (name: string): boolean => isSegmentFileName(name) || isTemporaryName(name)

/** Removes files without a row, and requires the file of each row. */
function agreeOnFiles(kv: Kv, dir: string): void {
  using reader = kv.snapshot()
  // a newer version may record its files in other rows
  rejectNewer(reader, chainSchema)
  const found = new Set(existsSync(dir) ? readdirSync(dir).filter(isOwnName) : [])
  for (const { id } of segmentTables) {
    for (const record of segmentsOf(reader, id)) {
      const name = segmentFileName(record)
      if (!found.delete(name)) throw storeFault('SEGMENT_DAMAGED', { path: join(dir, name), reason: 'no such file' })
    }
  }
  for (const name of found) requireUnused(reader, dir, name)
  for (const name of found) rmSync(join(dir, name), { force: true })
}

/** Requires that a file without a row has no rows that are in use: those of moved blocks have left their table, so the table of segments is damaged. */
function requireUnused(reader: KvReader, dir: string, name: string): void {
  const table = blockTables.find((spec) => name.startsWith(`${spec.name}-`))
  const first = Number(name.split('-', 2)[1])
  if (table === undefined || first < readPruned(reader, table.id) || first >= readMoved(reader)) return
  throw storeFault('STORE_DAMAGED', { dir, reason: `segment file ${name} is in use and has no row` })
}
