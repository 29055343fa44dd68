import { chainFault } from './faults.ts'
import { type Fork, type ForkSchedule, firstUnsupportedFork, forks, isActive } from './forks.ts'

export type PlannedFork = { readonly fork: Fork; readonly activationSec: number }

const unsupported: readonly Fork[] = forks.slice(forks.indexOf(firstUnsupportedFork))

/** The earliest planned fork whose rules this version lacks; undefined when none is planned. */
export function nextUnsupportedFork(schedule: ForkSchedule): PlannedFork | undefined {
  let next: PlannedFork | undefined
  for (const fork of unsupported) {
    const activationSec = schedule[fork]
    if (activationSec !== undefined && (next === undefined || activationSec < next.activationSec)) next = { fork, activationSec }
  }
  return next
}

/** The fork without rules here that a block of this time (seconds) would follow; undefined when the block can be executed. */
export function unsupportedForkAt(schedule: ForkSchedule, timestamp: number): PlannedFork | undefined {
  const next = nextUnsupportedFork(schedule)
  return next !== undefined && isActive(schedule, next.fork, timestamp) ? next : undefined
}

/** @throws Fault UNSUPPORTED_FORK (fatal) when the block of this time (seconds) follows rules that this version lacks */
export function refuseUnsupportedFork(schedule: ForkSchedule, timestamp: number): void {
  const found = unsupportedForkAt(schedule, timestamp)
  if (found) throw chainFault('UNSUPPORTED_FORK', { ...found, timestampSec: timestamp })
}

/** How long before an unsupported fork its approach is reported. */
export const warningAheadSec: number = 14 * 86_400

/** The unsupported fork that is less than `warningAheadSec` away, with the seconds left (never negative). */
export function approachingUnsupportedFork(
  schedule: ForkSchedule,
  nowSec: number,
): (PlannedFork & { readonly leftSec: number }) | undefined {
  const next = nextUnsupportedFork(schedule)
  if (next === undefined || next.activationSec - nowSec > warningAheadSec) return undefined
  return { ...next, leftSec: Math.max(0, next.activationSec - nowSec) }
}
