import type { RefusalReason } from './faults.ts'

/** A transaction that is not included, as L1 stands now. */
export type Waiting = {
  /** L1's answer to the newest attempt */
  readonly refusal: RefusalReason | undefined
  /** L1's head when it was handed in last; undefined: it was not, or a reorg took it out */
  readonly sentAtL1: number | undefined
  /** L1's head when the newest attempt was made */
  readonly attemptAtL1: number
  readonly attemptAgeMs: number
  readonly l1Number: number
  /** no transaction of the account stands before it */
  readonly isLowest: boolean
  /** the next block asks for more than it offers */
  readonly isBelowPrice: boolean
  /** L1's pool counts it */
  readonly isInPool: boolean
  readonly resubmitMs: number
}

/**
 * What to do about a transaction that is not included. While L1 makes no blocks it is not the price: nothing is replaced then. Behind another one
 * that is not included only what the next block could not take is. What the pool has lost is sent again, once an L1 block. Pure.
 */
export function nextStep(waiting: Waiting): 'wait' | 'send-again' | 'replace' {
  if (waiting.refusal === 'underpriced') return 'replace'
  if (waiting.sentAtL1 === undefined) return 'send-again'
  const hasL1Moved = waiting.l1Number > waiting.attemptAtL1
  const isOverdue = waiting.isLowest && waiting.attemptAgeMs >= waiting.resubmitMs
  if (hasL1Moved && (waiting.isBelowPrice || isOverdue)) return 'replace'
  const isLost = !waiting.isInPool || waiting.refusal !== undefined
  return isLost && waiting.l1Number > waiting.sentAtL1 ? 'send-again' : 'wait'
}
