import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { HeadBlock } from '#rpc/ports'
import { createRecordFeed, type RecordFeed } from './recordFeed.ts'

/** Returns blocks of a record that were not canonical in the previous record, oldest first. Pure. */
export function newBlocks(before: HeadRecord, now: HeadRecord): readonly HeadBlock[] {
  const known = new Set(before.overlays.map(({ hash }) => hash))
  // each block is in the overlays of at least one record before it is committed and leaves them
  return now.overlays.filter(({ hash }) => !known.has(hash)).map(headOf)
}

/** Unpacks transactions on access only: most heads have no subscriber for them. */
const headOf = (executed: ExecutedBlock): HeadBlock => ({
  hash: executed.hash,
  get block(): HeadBlock['block'] {
    const { header, transactions } = executed
    return { header, transactions }
  },
})

/** Creates the feed of blocks that each published record makes canonical. */
export const createHeadFeed = (): RecordFeed<HeadBlock> => createRecordFeed(newBlocks)
