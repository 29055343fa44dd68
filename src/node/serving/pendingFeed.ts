import type { PendingBlock } from '#block/execution/pendingBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { pendingReceipts, viewedPending } from '#blockchain/view/unsealedBlocks'
import { firstDifference, isSameEnvironment } from '#pending/placeFlashblock'
import type { PendingNews, PendingBlock as ToldBlock } from '#rpc/pendingPorts'
import type { Hash } from '#types/ids'
import { createRecordFeed, type RecordFeed } from './recordFeed.ts'

/** Change of a pending block, before `PendingNews` unpacks it. */
export type PendingChange =
  | { readonly kind: 'flashblock'; readonly block: PendingBlock; readonly firstNew: number }
  | { readonly kind: 'dropped'; readonly block: PendingBlock; readonly first: number; readonly replacedBy?: Hash }

const continues = (block: PendingBlock, before: PendingBlock): boolean =>
  block.payloadId === before.payloadId && block.header.parentHash === before.header.parentHash && block.index >= before.index

/** Returns the transactions of a former pending block that the chain lacks; undefined when it has all of them. */
function dropOf(block: PendingBlock, { overlays, base }: HeadRecord): PendingChange | undefined {
  const sealed = overlays[block.header.number - base.number - 1]
  if (sealed === undefined) return { kind: 'dropped', block, first: 0 }
  const first = isSameEnvironment(block.header, sealed.header) ? firstDifference(block.executed, sealed.executed) : 0
  return first === undefined ? undefined : { kind: 'dropped', block, first, replacedBy: sealed.hash }
}

/** Returns the changes of pending blocks between two consecutive records: first the dropped blocks, the youngest first. Pure. */
export function pendingChanges(before: HeadRecord, now: HeadRecord): readonly PendingChange[] {
  const [old, shown] = [before.pending?.blocks ?? [], now.pending?.blocks ?? []]
  if (old === shown) return []
  const gone = old.toReversed().filter((block) => !shown.some((one) => continues(one, block)))
  const dropped = gone.map((block) => dropOf(block, now)).filter((change) => change !== undefined)
  const grown = shown.filter((block) => !old.includes(block))
  return [
    ...dropped,
    ...grown.map((block): PendingChange => {
      const earlier = old.find((one) => continues(block, one))
      return { kind: 'flashblock', block, firstNew: earlier?.executed.length ?? 0 }
    }),
  ]
}

/** Unpacks block and receipts on access only: most flashblocks have no subscriber for all of them. */
function lazyBlock(block: PendingBlock, config: ExecutionConfig): ToldBlock {
  let [whole, receipts]: [ToldBlock['block'] | undefined, ToldBlock['receipts'] | undefined] = [undefined, undefined]
  return {
    index: block.index,
    get block(): ToldBlock['block'] {
      whole ??= viewedPending(block)
      return whole
    },
    get receipts(): ToldBlock['receipts'] {
      receipts ??= pendingReceipts(block, config)
      return receipts
    },
  }
}

function newsOf(change: PendingChange, config: ExecutionConfig): PendingNews {
  const { block, ...rest } = change
  return { ...rest, pending: lazyBlock(block, config) }
}

/** Creates the feed of changes that each published record makes to the pending blocks. */
export const createPendingFeed = (config: ExecutionConfig): RecordFeed<PendingNews> =>
  createRecordFeed((before, now) => pendingChanges(before, now).map((change) => newsOf(change, config)))
