import type { ExecutionConfig } from '#block/executionConfig'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { pendingReceipts } from '#blockchain/view/unsealedBlocks'
import { equalBytes } from '#lib/bytes'
import type { PendingChange, PendingNews } from '#rpc/pendingPorts'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Header } from '#types/header'
import type { PendingBlock } from '#types/pendingBlock'
import { createRecordFeed, type RecordFeed } from './recordFeed.ts'

const sameFields = [
  'parentHash',
  'number',
  'timestamp',
  'beneficiary',
  'mixHash',
  'gasLimit',
  'baseFeePerGas',
  'parentBeaconBlockRoot',
] as const

/** Returns whether transactions execute the same in both blocks. */
function isSameEnvironment(a: Header, b: Header): boolean {
  return sameFields.every((field) => a[field] === b[field]) && equalBytes(a.extraData, b.extraData)
}

/** Returns the index of the first pending transaction that the other block lacks at its place; undefined when it has all. */
function firstDifference(shown: readonly ExecutedTransaction[], other: readonly ExecutedTransaction[]): number | undefined {
  const at = shown.findIndex(({ hash }, index) => other[index]?.hash !== hash)
  return at < 0 ? undefined : at
}

const continues = (block: PendingBlock, before: PendingBlock): boolean =>
  block.payloadId === before.payloadId && block.header.parentHash === before.header.parentHash && block.index >= before.index

/** Returns the transactions of a former pending block that the chain lacks; undefined when it has all of them. */
function dropOf(pending: PendingBlock, { overlays, base }: HeadRecord): PendingChange | undefined {
  const sealed = overlays[pending.number - base.number - 1]
  if (sealed === undefined) return { kind: 'dropped', pending, first: 0 }
  const first = isSameEnvironment(pending.header, sealed.header) ? firstDifference(pending.executed, sealed.executed) : 0
  return first === undefined ? undefined : { kind: 'dropped', pending, first, replacedBy: sealed.hash }
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
    ...grown.map((pending): PendingChange => {
      const earlier = old.find((one) => continues(pending, one))
      return { kind: 'flashblock', pending, firstNew: earlier?.executed.length ?? 0 }
    }),
  ]
}

/** Creates the feed of changes that each published record makes to the pending blocks. */
export const createPendingFeed = (config: ExecutionConfig): RecordFeed<PendingNews> =>
  createRecordFeed((before, now) =>
    pendingChanges(before, now).map((change) => ({ ...change, receipts: () => pendingReceipts(change.pending, config) })),
  )
