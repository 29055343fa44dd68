import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { Heads } from '#engine/port'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { tipOf } from '../branch.ts'
import { canonicalBlock, type StoredHeads } from '../chainStore.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import type { CommitPace } from './commitPace.ts'

/** What one transaction of a round changes: it unwinds blocks, or adds blocks, or ends an unwind and adds blocks. */
export type CommitSlice = {
  /** number of blocks that it unwinds */
  readonly unwound: number
  /** blocks that it adds, oldest first */
  readonly blocks: readonly ExecutedBlock[]
  /** head of the store after it */
  readonly head: BlockId
  /** youngest block of the published chain that the store has after it: its head, or an ancestor while blocks are left to unwind */
  readonly base: BlockId
}

/**
 * Returns the next transaction towards heads on the published chain: as many whole blocks as fit into its time, one at least.
 * @throws Fault CHAIN_STORE_DAMAGED (fatal)
 */
export function nextSlice(
  kv: Kv,
  { committed, base, overlays }: HeadRecord,
  { unsafe }: Heads,
  pace: CommitPace,
  sizeOf: (block: ExecutedBlock) => number,
): CommitSlice {
  const left = committed.number - base.number
  const unwound = pace.blocksToUnwind(left)
  if (unwound < left) return { unwound, blocks: [], head: storedBlock(kv, committed.number - unwound), base }
  const wanted = overlays.slice(0, unsafe.number - base.number)
  const blocks = wanted.slice(0, pace.blocksIn(wanted, sizeOf))
  const head = tipOf({ ancestor: base, blocks })
  return { unwound, blocks, head, base: head }
}

function storedBlock(kv: Kv, number: number): BlockId {
  using reader = kv.snapshot()
  return canonicalBlock(reader, number)
}

/** Returns the labels of the store after a transaction that does not reach the heads of its round. */
export function labelsAfter({ head, base }: CommitSlice, { safe, finalized }: Heads): StoredHeads {
  const upTo = (label: BlockId): BlockId => (label.number < base.number ? label : base)
  return { unsafe: head, safe: upTo(safe), finalized: upTo(finalized), ...(head.number > base.number && { base: base.number }) }
}
