import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { executionFault } from '#block/faults'
import type { KvReader, SnapshotSource } from '#store/ports'
import { blockTables, type SegmentRecord, segmentFileName } from '#store/segments/segmentRecords'
import { type SegmentStep, SegmentWriter } from '#store/segments/segmentWriter'
import type { BlockId } from '#types/blockRef'
import { blockKey } from '../chainRows.ts'
import { buildLogSegment } from './buildLogSegment.ts'
import { type BuiltSegments, headerAt, type SegmentRequest, usualBounds, windowOf } from './segmentCut.ts'

/** Blocks read on one snapshot: some tens of milliseconds. */
const blocksAtOnce = 64

/** Writer of segment files. Only one build runs at a time. */
export interface SegmentBuilder extends AsyncDisposable {
  /** Returns undefined when it was ended before the files were complete; nothing is left of them. @throws as `buildSegments` */
  build(request: SegmentRequest): Promise<BuiltSegments | undefined>
}

/**
 * Writes the segment files that begin at a block. Reads on short snapshots, so that the writer of the store can reuse pages.
 * @param isEnded called for each few blocks; true ends the work
 * @returns undefined when ended, when the cut is above `upTo` and they need not end there, or when retention has begun to remove the rows
 * @throws Fault DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal); no file is left
 */
export function buildSegments(
  source: Pick<SnapshotSource, 'snapshot'>,
  request: SegmentRequest,
  isEnded: () => boolean = () => false,
  onStep?: (step: SegmentStep) => void,
): BuiltSegments | undefined {
  return request.of === 'logs' ? buildLogSegment(source, request, isEnded, onStep) : buildBlockSegments(source, request, isEnded, onStep)
}

function buildBlockSegments(
  source: Pick<SnapshotSource, 'snapshot'>,
  { dir, genesis, from, upTo, bounds = usualBounds, endsAt }: SegmentRequest,
  isEnded: () => boolean,
  onStep: ((step: SegmentStep) => void) | undefined,
): BuiltSegments | undefined {
  using writers = new DisposableStack()
  const outputs = blockTables.map(({ id: table }) => {
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
  return endsAt === 'upTo' ? finished(upTo) : undefined

  function finished(last: number): BuiltSegments {
    return { of: 'blocks', last, records: finishAll(dir, outputs) }
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
  const name = blockTables.find((each) => each.id === table)?.name
  throw executionFault('CHAIN_STORE_DAMAGED', { what: `the row of block ${id.number} in ${name}` })
}
