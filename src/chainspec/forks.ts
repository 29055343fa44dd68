import type { Address } from '#types/ids'

/** The forks of Base in order of activation. Delta concerns derivation only. @see specs protocol/, "superchain upgrades" */
export const forks = [
  'bedrock',
  'regolith',
  'canyon',
  'delta',
  'ecotone',
  'fjord',
  'granite',
  'holocene',
  'isthmus',
  'jovian',
  'azul',
  'beryl',
  'cobalt',
  'denim',
] as const
export type Fork = (typeof forks)[number]

/** Forks that only Base has. Configuration files list them separately. */
export const baseForks = ['azul', 'beryl', 'cobalt', 'denim'] as const satisfies readonly Fork[]

/** Activation times in seconds; a fork without a time is not scheduled. */
export type ForkSchedule = Readonly<Partial<Record<Fork, number>>> & {
  /** Account that may activate features of Beryl's native contracts, until the chain's state names another; absent: none. */
  readonly activationAdmin?: Address
}

/** Returns whether a block at a time (seconds) follows the fork's rules. No other code compares a time with an activation. */
export function isActive(schedule: ForkSchedule, fork: Fork, timestamp: number): boolean {
  const activation = schedule[fork]
  return activation !== undefined && timestamp >= activation
}

/** Returns whether a block is the first one under the fork: active at its time, not at its parent's. Always false for genesis, which has no parent. */
export function activatesAt(schedule: ForkSchedule, fork: Fork, parentTimestamp: number, timestamp: number): boolean {
  return isActive(schedule, fork, timestamp) && !isActive(schedule, fork, parentTimestamp)
}
