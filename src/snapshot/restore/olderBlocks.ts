import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executionFault } from '#block/faults'
import {
  addOlderBlocks,
  type LowestWhole,
  lowestWhole,
  type OlderBlock,
  verifyHeaderRow,
  verifyOlderRows,
} from '#blockchain/base/olderBlocks'
import { systemClock } from '#lib/clock'
import { errorMessage, isFault } from '#lib/fault'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { recordOf, SegmentFiles } from '#store/segments/segmentFiles'
import { blockTables, type SegmentRecord, segmentWith } from '#store/segments/segmentRecords'
import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import { snapshotFault } from '../faults.ts'
import { type ChunkEntry, fileOf } from '../format/manifest.ts'
import type { SnapshotReader } from './snapshotReader.ts'

type Source = {
  readonly reader: SnapshotReader
  /** segments */
  readonly entries: readonly ChunkEntry[]
  readonly genesis: BlockId
  readonly signal: AbortSignal
}

/** The segment files of consecutive blocks, one for each of `blockTables`. */
type Range = { readonly first: number; readonly last: number; readonly entries: readonly ChunkEntry[] }

/** Blocks that are verified and added at once. */
const blocksAtOnce = 256

/** Files of a range in a directory, opened, with their records. */
type OpenRange = { readonly range: Range; readonly files: SegmentFiles; readonly records: readonly SegmentRecord[] }

type VerifiedHeader = { readonly id: BlockId; readonly header: Header }

/** Returns the files of a range with a block. @throws Fault MANIFEST_BAD */
function rangeWith({ reader, entries }: Source, number: number): Range {
  const has = ({ first = 0, last = -1 }: ChunkEntry): boolean => first <= number && number <= last
  const found = blockTables.map(({ name }) => entries.find((entry) => entry.table === name && has(entry)))
  const [{ first = 0, last = -1 } = {}] = found
  const isWhole = found.every((entry) => entry?.first === first && entry.last === last)
  if (!isWhole) throw snapshotFault('MANIFEST_BAD', { place: reader.place, reason: `it has no segments with block ${number}` })
  return { first, last, entries: found as ChunkEntry[] }
}

/**
 * Downloads the files of a range into a directory.
 * @throws Fault CHUNK_DAMAGED, those of the reader
 */
async function fetchRange({ reader, genesis }: Source, range: Range, dir: string): Promise<readonly SegmentRecord[]> {
  const records: SegmentRecord[] = []
  for (const entry of range.entries) {
    const path = join(dir, fileOf(entry))
    await reader.segment(entry, path)
    records.push(
      naming(entry, reader.place, () =>
        recordOf(path, genesis.hash, { digest: entry.name, fileBytes: entry.size, rowBytes: entry.rawSize }),
      ),
    )
  }
  for (const [at, entry] of range.entries.entries()) {
    const { table, first, last } = records[at] as SegmentRecord
    if (table !== blockTables[at]?.id || first !== entry.first || last !== entry.last)
      throw snapshotFault('CHUNK_DAMAGED', {
        chunk: entry.name,
        place: reader.place,
        reason: 'it has other blocks than the manifest names',
      })
  }
  return records
}

/** Calls a function that reads a segment file; errors in the file become a fault that names it. */
function naming<T>(entry: ChunkEntry, place: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!isFault(error, 'SEGMENT_DAMAGED') && !isFault(error, 'BASE_BLOCK_REFUSED')) throw error
    throw snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place, reason: errorMessage(error) }, error)
  }
}

/**
 * Verifies the headers of a range below a block by their links to it.
 * @returns ids and headers, ascending
 * @throws Fault CHUNK_DAMAGED
 */
function verifyHeaders({ reader, genesis }: Source, { range, files, records }: OpenRange, above: LowestWhole): readonly VerifiedHeader[] {
  const [entry, record] = [range.entries[0] as ChunkEntry, records[0] as SegmentRecord]
  const damaged = (reason: string): Error => snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place: reader.place, reason })
  const down: VerifiedHeader[] = []
  let hash = above.parentHash
  for (let number = above.number - 1; number >= range.first; number--) {
    const id = { number, hash }
    const header = naming(entry, reader.place, () => verifyHeaderRow(files.row(record, number), id))
    down.push({ id, header })
    hash = header.parentHash
  }
  const lowest = down.at(-1)?.id
  if (lowest?.number === genesis.number && lowest.hash !== genesis.hash)
    throw damaged(`block ${genesis.number} in it has hash ${lowest.hash}, and the chain begins with ${genesis.hash}`)
  const highest = above.number - 1 === range.last ? above.parentHash : record.lastHash
  if (records.some(({ firstHash, lastHash }) => firstHash !== lowest?.hash || lastHash !== highest))
    throw damaged('its first or last block is not that of its head')
  return down.reverse()
}

/**
 * Iterates over blocks of a range, the newest first, some at once in ascending order.
 * @param headers of the blocks
 * @param onBytes called with the part of the files' bytes that the blocks have
 * @throws Fault CHUNK_DAMAGED
 */
function* verifiedBlocks(
  source: Source,
  { range, files, records }: OpenRange,
  headers: readonly VerifiedHeader[],
  onBytes: (size: number) => void,
): Generator<readonly OlderBlock[]> {
  const bytes = range.entries.reduce((sum, { size }) => sum + size, 0)
  const [, bodies, receipts] = records as [SegmentRecord, SegmentRecord, SegmentRecord]
  const rowOf = (at: number, record: SegmentRecord, number: number): Uint8Array =>
    naming(range.entries[at] as ChunkEntry, source.reader.place, () => files.row(record, number))
  for (let end = headers.length; end > 0; end -= blocksAtOnce) {
    const blocks = headers.slice(Math.max(0, end - blocksAtOnce), end).map(({ id, header }) => {
      const rows = { body: rowOf(1, bodies, id.number), receipts: rowOf(2, receipts, id.number) }
      return naming(range.entries[1] as ChunkEntry, source.reader.place, () => verifyOlderRows(rows, id.hash, header))
    })
    onBytes(Math.round((bytes * blocks.length) / (range.last - range.first + 1)))
    yield blocks
  }
}

/**
 * Adds the older blocks of a snapshot to a chain that begins with its block: for each range, newest first, its files, then transactions with some of its blocks.
 * Continues below the blocks that are there.
 * @param onBytes called with the size of the files, in parts
 * @throws Fault CHUNK_DAMAGED, MANIFEST_BAD; those of the reader and of the store
 */
export async function restoreOlder(source: Source, chainDir: string, onBytes: (size: number) => void): Promise<void> {
  const dir = segmentsDir(chainDir)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  await using kv = openChainKv(chainDir)
  using files = new SegmentFiles(dir, systemClock)
  for (let above = lowestOf(kv); above.number > source.genesis.number; above = lowestOf(kv)) {
    const range = rangeWith(source, above.number - 1)
    const records = recorded(kv, range) ?? (await fetchRange(source, range, dir))
    const open = { range, files, records }
    for (const blocks of verifiedBlocks(source, open, verifyHeaders(source, open, above), onBytes)) {
      addOlderBlocks(kv, records, blocks)
      await nextTurn(source.signal)
    }
  }
}

/** Returns the records of a range that an interrupted restore has begun to add. */
function recorded(kv: Kv, { first, entries }: Range): readonly SegmentRecord[] | undefined {
  using reader = kv.snapshot()
  const records = blockTables.map(({ id }) => segmentWith(reader, id, first))
  return records.every((record, at) => record?.digest === entries[at]?.name) ? (records as SegmentRecord[]) : undefined
}

async function nextTurn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}

function lowestOf(kv: Kv): LowestWhole {
  using reader = kv.snapshot()
  const found = lowestWhole(reader)
  if (found === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'its lowest block' })
  return found
}

/**
 * Verifies the older blocks of a snapshot, with the files of one range at a time in a temporary directory.
 * @param lowest the lowest of its blocks
 * @throws as `restoreOlder`
 */
export async function verifyOlder(source: Source, lowest: LowestWhole, onBytes: (size: number) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-verify-'))
  try {
    for (let above = lowest; above.number > source.genesis.number; ) {
      const range = rangeWith(source, above.number - 1)
      using files = new SegmentFiles(dir, systemClock)
      const records = await fetchRange(source, range, dir)
      const open = { range, files, records }
      const headers = verifyHeaders(source, open, above)
      for (const _ of verifiedBlocks(source, open, headers, onBytes)) await nextTurn(source.signal)
      const { id, header } = headers[0] as VerifiedHeader
      above = { ...id, parentHash: header.parentHash }
      for (const entry of range.entries) rmSync(join(dir, fileOf(entry)), { force: true })
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
