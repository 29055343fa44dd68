import { chainFault } from './faults.ts'
import { type Fork, type ForkSchedule, firstUnsupportedFork, forks, isActive } from './forks.ts'

export type PlannedFork = { readonly fork: Fork; readonly activationSec: number }

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

/** Returns the unsupported fork that a block at a time (seconds) would follow; undefined when the block can be executed. */
export function unsupportedForkAt(schedule: ForkSchedule, timestamp: number): PlannedFork | undefined {
  const next = nextUnsupportedFork(schedule)
  return next !== undefined && isActive(schedule, next.fork, timestamp) ? next : undefined
}

/** Rejects a block time (seconds) under an unsupported fork. @throws Fault UNSUPPORTED_FORK (fatal) */
export function refuseUnsupportedFork(schedule: ForkSchedule, timestamp: number): void {
  const found = unsupportedForkAt(schedule, timestamp)
  if (found) throw chainFault('UNSUPPORTED_FORK', { ...found, timestampSec: timestamp })
}

/** Time before an unsupported fork at which its approach is reported. */
export const warningAheadSec: number = 14 * 86_400

/** Returns the unsupported fork that activates within `warningAheadSec`, with the seconds left (never negative). */
export function approachingUnsupportedFork(
  schedule: ForkSchedule,
  nowSec: number,
): (PlannedFork & { readonly leftSec: number }) | undefined {
  const next = nextUnsupportedFork(schedule)
  if (next === undefined || next.activationSec - nowSec > warningAheadSec) return undefined
  return { ...next, leftSec: Math.max(0, next.activationSec - nowSec) }
}
