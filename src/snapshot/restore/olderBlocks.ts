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
import { flushPath } from '#store/flush'
import { storeFailure } from '#store/lmdb/failure'
import type { Kv } from '#store/ports'
import { recordOf, SegmentFiles } from '#store/segments/segmentFiles'
import { blockTables, type SegmentRecord, segmentWith } from '#store/segments/segmentRecords'
import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import { snapshotFault } from '../faults.ts'
import { type ChunkEntry, fileOf } from '../format/manifest.ts'
import type { OnBytes } from './loadChunks.ts'
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

/** Returns the part of the bytes of a range that some of its blocks have. */
const bytesOf = ({ first, last, entries }: Range, blocks: number): number =>
  Math.round((entries.reduce((sum, { size }) => sum + size, 0) * blocks) / (last - first + 1))

/** Blocks that are verified and added at once. */
const blocksAtOnce = 256

/** Files of a range in a directory, opened, with their records. */
type OpenRange = { readonly range: Range; readonly files: SegmentFiles; readonly records: readonly SegmentRecord[] }

type VerifiedHeader = { readonly id: BlockId; readonly header: Header }

/**
 * Returns the ranges of the segments of a manifest, newest first.
 * @throws Fault MANIFEST_BAD unless each has a file for each table, and they have all blocks from genesis on
 */
function rangesOf({ reader, entries, genesis }: Source): readonly Range[] {
  const bad = (reason: string): Error => snapshotFault('MANIFEST_BAD', { place: reader.place, reason })
  const byFirst = (x: ChunkEntry, y: ChunkEntry): number => (x.first ?? 0) - (y.first ?? 0)
  const byTable = blockTables.map(({ name }) => entries.filter(({ table }) => table === name).sort(byFirst))
  const [headers = []] = byTable
  let next = genesis.number
  const ranges = headers.map(({ first = 0, last = 0 }, at): Range => {
    const files = byTable.map((own) => own[at])
    if (first !== next || files.some((entry) => entry?.first !== first || entry.last !== last))
      throw bad(`it has no segments with block ${next}`)
    next = last + 1
    return { first, last, entries: files as ChunkEntry[] }
  })
  if (byTable.some(({ length }) => length !== headers.length)) throw bad('it has segments of one table only')
  return ranges.reverse()
}

/**
 * Downloads the files of a range into a directory.
 * @throws Fault CHUNK_DAMAGED, those of the reader
 */
async function fetchRange({ reader, genesis }: Source, { first, last, entries }: Range, dir: string): Promise<readonly SegmentRecord[]> {
  const records: SegmentRecord[] = []
  for (const [at, entry] of entries.entries()) {
    const path = join(dir, fileOf(entry))
    await reader.segment(entry, path)
    const expected = { table: blockTables[at]?.id ?? 0, first, last, digest: entry.name, fileBytes: entry.size, rowBytes: entry.rawSize }
    records.push(naming(entry, reader.place, () => recordOf(path, genesis.hash, expected)))
  }
  flushPath(dir)
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
  onBytes: OnBytes,
): Generator<readonly OlderBlock[]> {
  const [, bodies, receipts] = records as [SegmentRecord, SegmentRecord, SegmentRecord]
  const rowOf = (at: number, record: SegmentRecord, number: number): Uint8Array =>
    naming(range.entries[at] as ChunkEntry, source.reader.place, () => files.row(record, number))
  for (let end = headers.length; end > 0; end -= blocksAtOnce) {
    const blocks = headers.slice(Math.max(0, end - blocksAtOnce), end).map(({ id, header }) => {
      const rows = { body: rowOf(1, bodies, id.number), receipts: rowOf(2, receipts, id.number) }
      return naming(range.entries[1] as ChunkEntry, source.reader.place, () => verifyOlderRows(rows, id.hash, header))
    })
    onBytes(bytesOf(range, blocks.length), 'now')
    yield blocks
  }
}

/**
 * Adds the older blocks of a snapshot to a chain that begins with its block: for each range, newest first, its files, then transactions with some of its blocks.
 * Continues below the blocks that the chain has.
 * @param onBytes called with the size of the files, in parts
 * @throws Fault CHUNK_DAMAGED, MANIFEST_BAD; those of the reader and of the store
 */
export async function restoreOlder(source: Source, chainDir: string, onBytes: OnBytes): Promise<void> {
  const dir = segmentsDir(chainDir)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  await using kv = openChainKv(chainDir)
  using files = new SegmentFiles(dir, systemClock)
  for (const range of rangesOf(source)) {
    const above = lowestOf(kv)
    const blocksBefore = range.last + 1 - Math.max(range.first, Math.min(range.last + 1, above.number))
    if (blocksBefore > 0) onBytes(bytesOf(range, blocksBefore), 'before')
    if (range.first >= above.number) continue
    const begun = recorded(kv, range)
    requireNext(source, range, above, begun !== undefined)
    const open = { range, files, records: begun ?? (await fetchRange(source, range, dir)) }
    for (const blocks of verifiedBlocks(source, open, verifyHeaders(source, open, above), onBytes)) {
      addOlderBlocks(kv, open.records, blocks)
      await nextTurn(source.signal)
    }
  }
  requireAll(source, lowestOf(kv))
}

/** @param isBegun some of its blocks are added @throws Fault MANIFEST_BAD unless the last block of a range is the parent of a block */
function requireNext({ reader }: Source, { last }: Range, above: LowestWhole, isBegun = false): void {
  if (last === above.number - 1 || (isBegun && last >= above.number)) return
  const reason = `its segments end with block ${last}, and block ${above.number - 1} is the next one below those of this chain`
  throw snapshotFault('MANIFEST_BAD', { place: reader.place, reason })
}

/** @throws Fault MANIFEST_BAD when blocks are missing below the lowest one */
function requireAll({ reader, genesis }: Source, { number }: LowestWhole): void {
  if (number > genesis.number)
    throw snapshotFault('MANIFEST_BAD', { place: reader.place, reason: `it has no segments with block ${number - 1}` })
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
 * Verifies the older blocks of a snapshot. Files of mirrors are in a temporary directory, those of one range at a time.
 * @param lowest the lowest of its blocks
 * @throws as `restoreOlder`
 */
export async function verifyOlder(source: Source, lowest: LowestWhole, onBytes: OnBytes): Promise<void> {
  const { reader, signal } = source
  using place = reader.dir === undefined ? temporaryDir() : inPlace(reader.dir)
  let above = lowest
  for (const range of rangesOf(source)) {
    requireNext(source, range, above)
    using files = new SegmentFiles(place.dir, systemClock)
    const open = { range, files, records: await fetchRange(source, range, place.dir) }
    const headers = verifyHeaders(source, open, above)
    for (const _ of verifiedBlocks(source, open, headers, onBytes)) await nextTurn(signal)
    const { id, header } = headers[0] as VerifiedHeader
    above = { ...id, parentHash: header.parentHash }
    for (const entry of range.entries) place.remove(fileOf(entry))
  }
  requireAll(source, above)
}

/** A directory with files of a range. */
type RangeDir = Disposable & { readonly dir: string; remove(name: string): void }

/** Returns the directory of a snapshot, whose files stay. */
const inPlace = (dir: string): RangeDir => ({ dir, remove(): void {}, [Symbol.dispose](): void {} })

/** Makes a directory that disposing removes. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) */
function temporaryDir(): RangeDir {
  try {
    const dir = mkdtempSync(join(tmpdir(), 'basalt-verify-'))
    return {
      dir,
      remove: (name): void => rmSync(join(dir, name), { force: true }),
      [Symbol.dispose]: (): void => rmSync(dir, { recursive: true, force: true }),
    }
  } catch (error) {
    throw storeFailure(tmpdir(), error)
  }
}
