import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { PendingBlocks } from '#types/pendingBlock'

/**
 * Frozen record that the writer publishes: the heads and the uncommitted canonical blocks, oldest first. A reader takes the record first and a read
 * transaction second, so that both belong together (`createChainView`). Plain data: `structuredClone` copies it to another thread. A thread that
 * clones keeps one object per block across records, because stacks of states are cached by that object.
 */
export type HeadRecord = {
  readonly heads: Heads
  /** the committed head when the record was made */
  readonly committed: BlockId
  /** the block below `overlays`: the committed head, or an ancestor of it before a commit that unwinds */
  readonly base: BlockId
  readonly overlays: readonly ExecutedBlock[]
  /** pending blocks; the first is a child of the unsafe head */
  readonly pending?: PendingBlocks | undefined
  /** recent pending blocks, the newest last, including `pending`: a view answers for their ids, which a caller may have from an earlier view */
  readonly recent?: readonly PendingBlocks['blocks'][]
}

/** Number of replaced flashblocks that views answer for: about a second of a usual stream. */
const maxRecent = 5

/** Appends the current pending blocks to the recent ones. */
export function recentWith(before: HeadRecord['recent'] = [], pending: PendingBlocks | undefined): readonly PendingBlocks['blocks'][] {
  if (pending === undefined) return before
  const isNew = pending.blocks.at(-1)?.id !== before.at(-1)?.at(-1)?.id
  return [...(isNew ? before : before.slice(0, -1)), pending.blocks].slice(-maxRecent - 1)
}

/** Returns a frozen record. Its list of overlays is not frozen: `slice` of a frozen array takes 40 times as long. */
export const recordOf = ({ heads, committed, base, overlays, pending }: HeadRecord): HeadRecord =>
  Object.freeze({ heads: Object.freeze({ ...heads }), committed, base, overlays, ...(pending && { pending }) })

/** Returns the record without stale pending blocks. @param nowMs wall clock */
export function recordAt(record: HeadRecord, nowMs: number): HeadRecord {
  if (record.pending === undefined || nowMs <= record.pending.freshUntilMs) return record
  const { pending: _stale, ...sealed } = record
  return sealed
}

export const sameHeads = (a: Heads, b: Heads): boolean =>
  a.unsafe.hash === b.unsafe.hash && a.safe.hash === b.safe.hash && a.finalized.hash === b.finalized.hash

/** The canonical chain by a record and a committed head: all blocks up to `base` are committed. */
export type RecordedChain = { readonly base: BlockId; readonly overlays: readonly ExecutedBlock[] }

/**
 * Returns undefined when the record is older than the committed head.
 * @param hashAt of the committed chain, by number
 */
export function chainAbove(
  record: HeadRecord,
  committed: BlockId,
  hashAt: (number: number) => Hash | undefined,
): RecordedChain | undefined {
  const { base, overlays } = record
  if (committed.hash === record.committed.hash || committed.hash === base.hash) return { base, overlays }
  const isUnwinding = base.number < committed.number && committed.number < record.committed.number
  if (isUnwinding && hashAt(base.number) === base.hash) return { base, overlays }
  const block = overlays[committed.number - base.number - 1]
  return block?.hash === committed.hash ? { base: committed, overlays: overlays.slice(committed.number - base.number) } : undefined
}
