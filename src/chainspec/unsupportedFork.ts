/** Fork that L1 announces and whose rules this version lacks, by its id there. */
export type PlannedFork = { readonly fork: string; readonly activationSec: number }

/** Returns whether a block at a time (seconds) would follow the fork. */
export const isReached = ({ activationSec }: PlannedFork, timestamp: number): boolean => timestamp >= activationSec

/** Time before an unsupported fork at which its approach is reported. */
export const warningAheadSec: number = 14 * 86_400

/** Returns the fork with the seconds left (never negative) when it activates within `warningAheadSec`. */
export function approachingFork(next: PlannedFork | undefined, nowSec: number): (PlannedFork & { readonly leftSec: number }) | undefined {
  if (next === undefined || next.activationSec - nowSec > warningAheadSec) return undefined
  return { ...next, leftSec: Math.max(0, next.activationSec - nowSec) }
}
