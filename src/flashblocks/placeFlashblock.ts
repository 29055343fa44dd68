import { maxPendingBlocks } from '#pending/pendingPort'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'

/** The last executed flashblock of the newest pending block. */
export type Tip = FlashblockLocation & {
  /** a later flashblock of the block has arrived and the next one has not */
  readonly isTorn: boolean
}

/** Head and tip against which a flashblock is placed. */
export type Situation = {
  /** the newest canonical block */
  readonly head: BlockId
  /** undefined: there is no pending block; otherwise above the head */
  readonly tip: Tip | undefined
}

/** Placements of a flashblock. The first three can be executed now; the next three may fit later; the last three never fit. */
export const placements = ['append', 'next-block', 'replace', 'gap', 'ahead', 'orphaned', 'duplicate', 'late', 'too-far'] as const
export type Placement = (typeof placements)[number]

/** The fields of a flashblock that placement uses. */
export type Placed = Pick<Flashblock, 'blockNumber' | 'payloadId' | 'index' | 'base'>

/** Flashblocks of up to this many blocks above the head are held until they fit. */
const maxAheadBlocks = 5

export const isExecutable = (placement: Placement): boolean =>
  placement === 'append' || placement === 'next-block' || placement === 'replace'

export const isHeld = (placement: Placement): boolean => placement === 'gap' || placement === 'ahead' || placement === 'orphaned'

/**
 * Places a flashblock by head and tip.
 * - append: the next flashblock of the tip · next-block: flashblock 0 on the tip, or on the head when there is no pending block
 * - replace: flashblock 0 of another build with the tip's number
 * - gap: flashblocks before it are missing · ahead: blocks before it are missing, or it is more than three above the head
 * - orphaned: flashblock 0 of the block above the head, on another parent
 * - duplicate: it is in the tip · late: its block is canonical, or below the tip · too-far: more than five blocks above the head
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
