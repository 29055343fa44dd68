import type { EthereumSchedule } from './ethereumSchedule.ts'

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

/** Those that Base alone has: configurations keep them apart. */
export const baseForks = ['azul', 'beryl', 'cobalt', 'denim'] as const satisfies readonly Fork[]

/** The first fork whose rules this version does not have: a block at or after its activation is refused (UNSUPPORTED_FORK). */
export const firstUnsupportedFork: Fork = 'beryl'

/**
 * Activation times in seconds; a fork without one is not planned. `ethereum` is there on Ethereum's own test chains alone, which follow
 * none of Base's forks.
 */
export type ForkSchedule = Readonly<Partial<Record<Fork, number>>> & { readonly ethereum?: EthereumSchedule }

/** Whether a block of this time (seconds) follows the fork's rules. The only comparison of a time with an activation. */
export function isActive(schedule: ForkSchedule, fork: Fork, timestamp: number): boolean {
  const activation = schedule[fork]
  return activation !== undefined && timestamp >= activation
}

/** Whether a block is the first one under the fork: active at its time, not at its parent's. Genesis has no parent: never. */
export function activatesAt(schedule: ForkSchedule, fork: Fork, parentTimestamp: number, timestamp: number): boolean {
  return isActive(schedule, fork, timestamp) && !isActive(schedule, fork, parentTimestamp)
}
