import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { HeadBlock } from '#rpc/ports'
import { createRecordFeed, type RecordFeed } from './recordFeed.ts'

/** Blocks of a record that were not canonical in the record before it, oldest first. Pure. */
export function newBlocks(before: HeadRecord, now: HeadRecord): readonly HeadBlock[] {
  const told = new Set(before.overlays.map(({ hash }) => hash))
  // a block is in the overlays of one record at least before it is committed, and what is committed leaves them
  return now.overlays.filter(({ hash }) => !told.has(hash)).map(headOf)
}

/** Its transactions are unpacked when somebody asks for them: to most heads nobody listens. */
const headOf = (executed: ExecutedBlock): HeadBlock => ({
  hash: executed.hash,
  get block(): HeadBlock['block'] {
    const { header, transactions } = executed
    return { header, transactions }
  },
})

/** Tells of what each published record makes canonical. */
export const createHeadFeed = (): RecordFeed<HeadBlock> => createRecordFeed(newBlocks)
