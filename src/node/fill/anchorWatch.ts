import type { FollowStatus } from '#consensus/follow'
import type { DriverStatus } from '#consensus/status'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { nodeFault } from '../faults.ts'

/** Interval between checks; time for which the followed chain may exclude the anchor; time for which no source may have a part of the state. */
const anchorTimes = { everyMs: 5_000, leftOutMs: 60_000, lackedMs: 600_000 }

export type AnchorFacts = {
  /** undefined: no node is followed */
  readonly follow: FollowStatus | undefined
  /** undefined: nothing is derived or followed here */
  readonly driver: Pick<DriverStatus, 'waits'> | undefined
}

/**
 * Returns the fault that makes a partial state unusable, and how long it may last: the chain does not contain the block with which the state began, or no source
 * has its states. Undefined: the state is usable. Pure.
 */
function anchorProblem({ follow, driver }: AnchorFacts): { readonly fault: Fault; readonly limitMs: number } | undefined {
  const { refusal } = follow ?? {}
  if (isFault(refusal, 'SOURCE_LEAVES_OUT') && refusal.data['label'] === 'finalized')
    return { fault: refusal, limitMs: anchorTimes.leftOutMs }
  const lacking = driver?.waits.find(({ fault }) => isFault(fault, 'STATE_UNAVAILABLE'))?.fault
  return lacking && { fault: lacking, limitMs: anchorTimes.lackedMs }
}

/** Watch over the block with which a partial state began. */
export interface AnchorWatch extends Disposable {
  /** Rejects with ANCHOR_LOST; never resolves. */
  readonly lost: Promise<never>
}

/** @param isPartial false: the state is whole, and the watch ends */
export function watchAnchor(clock: Clock, isPartial: () => boolean, facts: () => AnchorFacts): AnchorWatch {
  const { promise: lost, reject } = Promise.withResolvers<never>()
  lost.catch(() => {})
  let since: { readonly code: string; readonly ms: number } | undefined
  let timer: Disposable | undefined
  function look(): void {
    const problem = anchorProblem(facts())
    const nowMs = clock.elapsedMs()
    if (problem === undefined) since = undefined
    else if (since?.code !== problem.fault.code) since = { code: problem.fault.code, ms: nowMs }
    if (problem && since && nowMs - since.ms >= problem.limitMs) {
      reject(nodeFault('ANCHOR_LOST', { reason: problem.fault.message }, problem.fault))
      return
    }
    plan()
  }
  function plan(): void {
    if (isPartial()) timer = clock.after(anchorTimes.everyMs, look)
  }
  plan()
  return { lost, [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
