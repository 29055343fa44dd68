import type { RefusalReason } from './faults.ts'

/** Transaction that is not included, with the state of L1. */
export type Waiting = {
  /** L1's refusal of the newest attempt */
  readonly refusal: RefusalReason | undefined
  /** L1 head at the last send; undefined when not sent yet, or when a reorg undid the inclusion */
  readonly sentAtL1: number | undefined
  /** L1 head when the newest attempt was made */
  readonly attemptAtL1: number
  readonly attemptAgeMs: number
  readonly l1Number: number
  /** true when no other transaction of the account is pending before it */
  readonly isLowest: boolean
  /** true when the next L1 block requires higher fees */
  readonly isBelowPrice: boolean
  /** true when L1's pool counts the nonce */
  readonly isInPool: boolean
  readonly resubmitMs: number
}

/**
 * Returns the step for a transaction that is not included. Without new L1 blocks fees are not the cause, so nothing is replaced. A transaction behind
 * another pending one is replaced only when its fees are too low. A transaction that the pool lost is sent again, once per L1 block. Pure.
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
