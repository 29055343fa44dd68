import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { executionFault } from '#block/faults'
import type { KvReader, SnapshotSource } from '#store/ports'
import { type SegmentRecord, segmentFileName, segmentTables } from '#store/segments/segmentRecords'
import { type SegmentStep, SegmentWriter } from '#store/segments/segmentWriter'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { blockKey } from '../chainRows.ts'
import { readCanonicalHash, readHeader } from '../chainStore.ts'

/** Bounds of a segment: blocks, bytes of the rows of one table, and windows of the blocks' time: a segment ends where a window does. */
const usualBounds = { blocks: 8_192, rowBytes: 512 * 2 ** 20, windowSec: 3_600 }
export type SegmentBounds = typeof usualBounds
/** Blocks read on one snapshot: some tens of milliseconds. */
const blocksAtOnce = 64

/** Blocks to write to files: from `from` to the cut, which is at most at `upTo`. All of them are canonical and finalized. */
export type SegmentRequest = {
  readonly dir: string
  readonly genesis: Hash
  readonly from: number
  readonly upTo: number
  /** absent: the usual ones, so that all nodes have the same files */
  readonly bounds?: SegmentBounds | undefined
}

/** Complete files of the blocks up to `last`, one for each table, which no row records yet. */
export type BuiltSegments = { readonly last: number; readonly records: readonly SegmentRecord[] }

/** Writer of segment files. Only one build runs at a time. */
export interface SegmentBuilder extends AsyncDisposable {
  /** Returns undefined when it was ended before the files were complete; nothing is left of them. @throws as `buildSegments` */
  build(request: SegmentRequest): Promise<BuiltSegments | undefined>
}

const windowOf = (timestamp: number, { windowSec }: SegmentBounds): number => Math.floor(timestamp / windowSec)

/** Returns whether a segment that begins at a block ends at or before another block. */
export function isSegmentWhole(reader: KvReader, from: number, upTo: number, bounds = usualBounds): boolean {
  if (upTo < from) return false
  return upTo - from + 1 >= bounds.blocks || windowOf(timestampAt(reader, from), bounds) !== windowOf(timestampAt(reader, upTo), bounds)
}

const timestampAt = (reader: KvReader, number: number): number => headerAt(reader, number).timestamp

function headerAt(reader: KvReader, number: number): BlockId & { readonly timestamp: number } {
  const hash = readCanonicalHash(reader, number)
  const header = hash && readHeader(reader, { number, hash })
  if (hash === undefined || header === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `the header of block ${number}` })
  return { number, hash, timestamp: header.timestamp }
}

/**
 * Writes the segment files that begin at a block. Reads on short snapshots, so that the writer of the store can reuse pages.
 * @param isEnded called for each few blocks; true ends the work
 * @returns undefined when ended, or when the cut is above `upTo`
 * @throws Fault DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal); no file is left
 */
export function buildSegments(
  source: Pick<SnapshotSource, 'snapshot'>,
  { dir, genesis, from, upTo, bounds = usualBounds }: SegmentRequest,
  isEnded: () => boolean = () => false,
  onStep?: (step: SegmentStep) => void,
): BuiltSegments | undefined {
  using writers = new DisposableStack()
  const outputs = segmentTables.map(({ id: table }) => {
    const writer = writers.use(new SegmentWriter({ dir, table, genesis, onStep }))
    return { table, writer }
  })
  const isFull = (): boolean => outputs.some(({ writer }) => writer.rowBytes >= bounds.rowBytes)
  let window: number | undefined
  for (let number = from; number <= upTo; ) {
    if (isEnded()) return undefined
    using reader = source.snapshot()
    for (const end = number + blocksAtOnce; number < end && number <= upTo; number++) {
      const id = headerAt(reader, number)
      window ??= windowOf(id.timestamp, bounds)
      if (windowOf(id.timestamp, bounds) !== window) return finished(number - 1)
      for (const { table, writer } of outputs) writer.add(id, rowOf(reader, table, id))
      if (number - from + 1 >= bounds.blocks || isFull()) return finished(number)
    }
  }
  return undefined

  function finished(last: number): BuiltSegments {
    return { last, records: finishAll(dir, outputs) }
  }
}

/** Completes the files: all or none. */
function finishAll(dir: string, outputs: readonly { readonly writer: SegmentWriter }[]): SegmentRecord[] {
  const records: SegmentRecord[] = []
  try {
    for (const { writer } of outputs) records.push(writer.finish())
    return records
  } catch (error) {
    for (const record of records) rmSync(join(dir, segmentFileName(record)), { force: true })
    throw error
  }
}

function rowOf(reader: KvReader, table: number, id: BlockId): Uint8Array {
  const row = reader.get(table, blockKey(id))
  if (row) return row
  const name = segmentTables.find((each) => each.id === table)?.name
  throw executionFault('CHAIN_STORE_DAMAGED', { what: `the row of block ${id.number} in ${name}` })
}
