import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { verifyDatabase } from '#database/verify'
import { u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { oldestProof, oldestState } from '#state/chainState'
import { isPruned } from '#state/pruneHistory'
import { openForeignChainReader, segmentsDir } from '#store/chainTables'
import type { KvReader } from '#store/ports'
import { readMoved, segmentFileName, segmentsOf, segmentTables } from '#store/segments/segmentRecords'

/** Work that a kill interrupted, as the data directory shows. */
export type Interrupted = {
  /** states are marked as removed, and some of their rows are left */
  readonly pruning: boolean
  /** segment files that no row records, or moved rows that are not deleted yet */
  readonly moving: boolean
}

/** Reads a data directory after a kill, before any process opens it for writing. */
export async function interruptedWork(datadir: string): Promise<Interrupted> {
  const dir = join(datadir, 'chain')
  if (!existsSync(join(dir, 'data.mdb'))) return { pruning: false, moving: false }
  await using source = openForeignChainReader(dir)
  using reader = source.snapshot()
  const pruning = !isPruned(reader, { values: oldestState(reader), nodes: oldestProof(reader) })
  return { pruning, moving: hasMovedRows(reader) || hasUnrecordedFiles(reader, segmentsDir(dir)) }
}

function hasMovedRows(reader: KvReader): boolean {
  const to = u64Bytes(readMoved(reader))
  return segmentTables.some(({ id }) => [...reader.keys(id, { to, limit: 1 })].length > 0)
}

function hasUnrecordedFiles(reader: KvReader, dir: string): boolean {
  const files = new Set(existsSync(dir) ? readdirSync(dir) : [])
  for (const { id } of segmentTables) for (const record of segmentsOf(reader, id)) files.delete(segmentFileName(record))
  return files.size > 0
}

/** Verifies a data directory as `basalt db verify` does. @returns its differences as text; empty: none */
export async function verified(datadir: string): Promise<string> {
  const { signal } = new AbortController()
  const { done, found, differences } = await verifyDatabase({ clock: systemClock, signal, onProgress() {} }, { datadir, restart: true })
  return done && found === 0 ? '' : `${found} differences, done: ${done}: ${JSON.stringify(differences.slice(0, 3))}`
}
