import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { HeadBlock } from '#rpc/ports'
import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import { createRecordFeed, type RecordFeed } from './recordFeed.ts'

/** Committed blocks that one record announces at most, the newest ones. */
const maxCommitted = 1_024

/** Opens a view of the present chain. */
type Open = () => Disposable & Pick<ChainView, 'block'>

/**
 * Returns blocks of a record that were not canonical in the previous record, oldest first.
 * @param open not called unless the heads return to committed blocks of a branch that they had left
 */
function newBlocks(before: HeadRecord, now: HeadRecord, open: Open): readonly HeadBlock[] {
  const known = new Set(before.overlays.map(({ hash }) => hash))
  // other blocks are in the overlays of at least one record before they are committed and leave them
  const added = now.overlays.filter(({ hash }) => !known.has(hash)).map(headOf)
  const isBaseNew = now.base.number > before.base.number && !known.has(now.base.hash)
  return isBaseNew ? [...committedBlocks(now.base, before.base.number, known, open), ...added] : added
}

/** Returns a committed block and its ancestors above a number, oldest first, up to a known one. */
function committedBlocks({ hash: last }: BlockId, above: number, known: ReadonlySet<Hash>, open: Open): readonly HeadBlock[] {
  using view = open()
  const blocks: HeadBlock[] = []
  for (let hash = last; blocks.length < maxCommitted && !known.has(hash); ) {
    const block = view.block(hash)?.block
    if (block === undefined || block.header.number <= above) break
    blocks.push({ hash, block })
    hash = block.header.parentHash
  }
  return blocks.reverse()
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
export const createHeadFeed = (open: Open): RecordFeed<HeadBlock> => createRecordFeed((before, now) => newBlocks(before, now, open))
