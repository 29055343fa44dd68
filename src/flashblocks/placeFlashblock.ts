import { maxPendingBlocks } from '#pending/pendingPort'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'

/** The newest block that is not sealed, as far as it is executed. */
export type Tip = {
  readonly number: number
  readonly payloadId: string
  /** flashblock that was executed last */
  readonly index: number
  /** a later flashblock of it has come, and the next one has not */
  readonly isTorn: boolean
}

/** What a flashblock is held against. */
export type Situation = {
  /** the newest canonical block */
  readonly head: BlockId
  /** undefined: nothing is pending; above the head otherwise */
  readonly tip: Tip | undefined
}

/** Where a flashblock belongs. The first three can be executed now; the next three may fit later; the last three never will. */
export const placements = ['append', 'next-block', 'replace', 'gap', 'ahead', 'orphaned', 'duplicate', 'late', 'too-far'] as const
export type Placement = (typeof placements)[number]

/** What is needed of a flashblock to place it. */
export type Placed = Pick<Flashblock, 'blockNumber' | 'payloadId' | 'index' | 'base'>

/** Slices of so many blocks above the head are held until they fit. */
export const maxAheadBlocks = 5

export const isExecutable = (placement: Placement): boolean =>
  placement === 'append' || placement === 'next-block' || placement === 'replace'

export const isHeld = (placement: Placement): boolean => placement === 'gap' || placement === 'ahead' || placement === 'orphaned'

/**
 * Where a flashblock belongs, by what is executed and what is canonical.
 * - append: the next flashblock of the tip · next-block: flashblock 0 on the tip, or on the head when nothing is pending
 * - replace: flashblock 0 of another build of the tip's number
 * - gap: flashblocks are missing before it · ahead: blocks are missing before it, or it is more than three above the head
 * - orphaned: flashblock 0 on another block than the head
 * - duplicate: it is in the tip · late: its block is canonical, or has pending blocks on it · too-far: more than five blocks above the head
 */
export function placeFlashblock({ head, tip }: Situation, { blockNumber, payloadId, index, base }: Placed): Placement {
  const above = blockNumber - head.number
  if (above <= 0 || (tip && blockNumber < tip.number)) return 'late'
  if (above > maxAheadBlocks) return 'too-far'
  const ofTip = tip?.number === blockNumber
  if (tip && ofTip && tip.payloadId === payloadId) {
    if (index <= tip.index) return 'duplicate'
    return index === tip.index + 1 ? 'append' : 'gap'
  }
  if (base === undefined) return 'gap'
  if (above === 1) {
    if (base.parentHash !== head.hash) return 'orphaned'
    return ofTip ? 'replace' : 'next-block'
  }
  if (ofTip) return 'replace'
  const isNext = tip?.number === blockNumber - 1 && !tip.isTorn && above <= maxPendingBlocks
  return isNext ? 'next-block' : 'ahead'
}
