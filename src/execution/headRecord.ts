import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import type { ExecutedBlock } from './executedBlock.ts'

/**
 * What the one writer publishes, frozen: the heads and the blocks up to the unsafe head that no commit has reached, oldest first. A reader
 * takes it first and a read transaction second, so that both belong together (`createChainView`).
 */
export type HeadRecord = {
  readonly heads: Heads
  /** the committed head when the record was made: the block below `overlays` */
  readonly committed: BlockId
  readonly overlays: readonly ExecutedBlock[]
}

/** The overlays above a committed head; undefined when that head is neither the record's base nor one of its blocks: the record is old. */
export function overlaysAbove(record: HeadRecord, committed: BlockId): readonly ExecutedBlock[] | undefined {
  if (committed.hash === record.committed.hash) return record.overlays
  const index = record.overlays.findIndex(({ hash }) => hash === committed.hash)
  return index < 0 ? undefined : record.overlays.slice(index + 1)
}
