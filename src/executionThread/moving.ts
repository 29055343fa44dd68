import { RowPruner, type RowRetention } from '#blockchain/segments/rowPruner'
import { type MoverStep, SegmentMover } from '#blockchain/segments/segmentMover'
import { systemClock } from '#lib/clock'
import type { Log } from '#lib/log'
import { segmentsDir } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { SegmentThread } from './segmentThread.ts'

/** Settings with which the thread that writes the tables moves finalized rows. Plain data. */
export type MovingSettings = { readonly rows: RowRetention; readonly minFreeBytes: number }

/** Creates a mover for the thread that writes the tables in a directory. */
export function createMover(
  kv: Kv,
  {
    dir,
    rows,
    minFreeBytes,
    log,
    onStep,
  }: MovingSettings & { readonly dir: string; readonly log: Log; readonly onStep: (step: MoverStep) => void },
): SegmentMover {
  const files = { kv, clock: systemClock, log, dir: segmentsDir(dir) }
  const pruner = new RowPruner({ ...files, retention: rows })
  return new SegmentMover({ ...files, builder: new SegmentThread(dir), pruner, minFreeBytes, onStep })
}
