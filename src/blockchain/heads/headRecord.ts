import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { PendingBlocks } from '#block/execution/pendingBlock'
import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'

/**
 * What the one writer publishes, frozen: the heads and the canonical blocks that no commit has reached, oldest first. A reader takes it first and
 * a read transaction second, so that both belong together (`createChainView`). Plain data: `structuredClone` gives the same record elsewhere, but
 * who clones keeps one object a block over all records, for the stacks of states are remembered by it.
 */
export type HeadRecord = {
  readonly heads: Heads
  /** the head that was committed when the record was made */
  readonly committed: BlockId
  /** the block below `overlays`: the committed head, or an ancestor of it while a commit that unwinds is still to come */
  readonly base: BlockId
  readonly overlays: readonly ExecutedBlock[]
  /** what is not sealed; the first of it is a child of the unsafe head */
  readonly pending?: PendingBlocks | undefined
  /** what was pending lately, the newest last, `pending` too: a view answers by their ids, so that who has one from the view before is not lost */
  readonly recent?: readonly PendingBlocks['blocks'][]
}

/** Flashblocks that are not shown any more and are answered for: of a second, as most streams go. */
const maxRecent = 5

/** What was pending lately, with what is pending now. */
export function recentWith(before: HeadRecord['recent'] = [], pending: PendingBlocks | undefined): readonly PendingBlocks['blocks'][] {
  if (pending === undefined) return before
  const isNew = pending.blocks.at(-1)?.id !== before.at(-1)?.at(-1)?.id
  return [...(isNew ? before : before.slice(0, -1)), pending.blocks].slice(-maxRecent - 1)
}

export const recordOf = ({ heads, committed, base, overlays, pending }: HeadRecord): HeadRecord =>
  Object.freeze({ heads: Object.freeze({ ...heads }), committed, base, overlays: Object.freeze(overlays), ...(pending && { pending }) })

/** The record without pending blocks that are not fresh any more. @param nowMs wall clock */
export function recordAt(record: HeadRecord, nowMs: number): HeadRecord {
  if (record.pending === undefined || nowMs <= record.pending.freshUntilMs) return record
  const { pending: _stale, ...sealed } = record
  return sealed
}

export const sameHeads = (a: Heads, b: Heads): boolean =>
  a.unsafe.hash === b.unsafe.hash && a.safe.hash === b.safe.hash && a.finalized.hash === b.finalized.hash

/** The canonical chain as a record and a committed head show it: all blocks up to `base` are committed. */
export type RecordedChain = { readonly base: BlockId; readonly overlays: readonly ExecutedBlock[] }

/** Undefined when the record does not know that committed head: the record is old. */
export function chainAbove(record: HeadRecord, committed: BlockId): RecordedChain | undefined {
  const { base, overlays } = record
  if (committed.hash === record.committed.hash || committed.hash === base.hash) return { base, overlays }
  const block = overlays[committed.number - base.number - 1]
  return block?.hash === committed.hash ? { base: committed, overlays: overlays.slice(committed.number - base.number) } : undefined
}
