import { chainFault } from './faults.ts'
import { type Fork, type ForkSchedule, firstUnsupportedFork, forks } from './forks.ts'

/** Fork whose rules this version lacks, by name or by its id on L1. */
export type PlannedFork = { readonly fork: string; readonly activationSec: number }

const unsupported: readonly Fork[] = forks.slice(forks.indexOf(firstUnsupportedFork))

/** Returns the earliest scheduled fork whose rules this version lacks; undefined when there is none. */
export function nextUnsupportedFork(schedule: ForkSchedule): PlannedFork | undefined {
  let next: PlannedFork | undefined
  for (const fork of unsupported) {
    const activationSec = schedule[fork]
    if (activationSec !== undefined && (next === undefined || activationSec < next.activationSec)) next = { fork, activationSec }
  }
  return next
}

/** Returns whether a block at a time (seconds) would follow the fork. */
export const isReached = ({ activationSec }: PlannedFork, timestamp: number): boolean => timestamp >= activationSec

/** Returns the unsupported fork that a block at a time (seconds) would follow; undefined when the block can be executed. */
export function unsupportedForkAt(schedule: ForkSchedule, timestamp: number): PlannedFork | undefined {
  const next = nextUnsupportedFork(schedule)
  return next && isReached(next, timestamp) ? next : undefined
}

/** Rejects a block time (seconds) under an unsupported fork. @throws Fault UNSUPPORTED_FORK (fatal) */
export function refuseUnsupportedFork(schedule: ForkSchedule, timestamp: number): void {
  const found = unsupportedForkAt(schedule, timestamp)
  if (found) throw chainFault('UNSUPPORTED_FORK', { ...found, timestampSec: timestamp })
}

/** Time before an unsupported fork at which its approach is reported. */
export const warningAheadSec: number = 14 * 86_400

/** Returns the fork with the seconds left (never negative) when it activates within `warningAheadSec`. */
export function approachingFork(next: PlannedFork | undefined, nowSec: number): (PlannedFork & { readonly leftSec: number }) | undefined {
  if (next === undefined || next.activationSec - nowSec > warningAheadSec) return undefined
  return { ...next, leftSec: Math.max(0, next.activationSec - nowSec) }
}
