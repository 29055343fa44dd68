import { type ForkSchedule, isActive } from './forks.ts'
import type { RollupConfig } from './rollupConfig.ts'

/** Part of the rollup config that determines the due time of every block. */
export type BlockTimes = Pick<RollupConfig, 'blockTimeSec' | 'schedule'> & {
  readonly genesis: { readonly l2: { readonly number: number }; readonly l2TimeSec: number }
}

/** Time between two blocks from Denim on. @see Base's documentation, "Denim" */
export const denimBlockMs = 200

/** Returns the number of the first Denim block: the first one due at or after the activation; infinity when Denim is not scheduled. */
export function firstDenimBlock({ genesis, blockTimeSec, schedule }: BlockTimes): number {
  if (schedule.denim === undefined) return Number.POSITIVE_INFINITY
  return genesis.l2.number + Math.max(0, Math.ceil((schedule.denim - genesis.l2TimeSec) / blockTimeSec))
}

/** Returns the due time of an L2 block in milliseconds since 1970. All block times derive from this function. */
export function timeOf(config: BlockTimes, number: number): number {
  const { genesis, blockTimeSec } = config
  const first = firstDenimBlock(config)
  const beforeDenim = Math.min(number, first) - genesis.l2.number
  return (genesis.l2TimeSec + beforeDenim * blockTimeSec) * 1000 + Math.max(0, number - first) * denimBlockMs
}

/** Returns the header timestamp of an L2 block: whole seconds. Up to five consecutive blocks share it from Denim on. */
export function timestampOf(config: BlockTimes, number: number): number {
  return Math.floor(timeOf(config, number) / 1000)
}

/** Returns the milliseconds of a block's time that its header timestamp leaves out: 0, 200, 400, 600 or 800. */
export function millisPartOf(config: BlockTimes, number: number): number {
  return timeOf(config, number) % 1000
}

/** Returns whether a block may have a header timestamp, given its parent's: a later one, from Denim on also the same. */
export function mayFollow(schedule: ForkSchedule, parentTimestamp: number, timestamp: number): boolean {
  return timestamp > parentTimestamp || (timestamp === parentTimestamp && isActive(schedule, 'denim', timestamp))
}

/** Returns the time between a block and the next one, in milliseconds. */
export function blockIntervalMs(config: BlockTimes, number: number): number {
  return timeOf(config, number + 1) - timeOf(config, number)
}

/** Returns the number of the last L2 block due at or before a time in milliseconds; undefined before genesis. */
export function numberAt(config: BlockTimes, timeMs: number): number | undefined {
  const { genesis, blockTimeSec } = config
  const first = firstDenimBlock(config)
  if (first !== Number.POSITIVE_INFINITY) {
    const sinceDenimMs = timeMs - timeOf(config, first)
    if (sinceDenimMs >= 0) return first + Math.floor(sinceDenimMs / denimBlockMs)
  }
  const blocks = Math.floor((timeMs / 1000 - genesis.l2TimeSec) / blockTimeSec)
  return blocks < 0 ? undefined : genesis.l2.number + blocks
}

/** Returns the time in seconds `index` blocks after `startSec`, by the block time before Denim. `startSec` may be a time at which no block is due. */
export function timestampAfter(config: BlockTimes, startSec: number, index: number): number {
  return startSec + index * config.blockTimeSec
}

/** Returns the number of blocks between two times in seconds, both before Denim; undefined when it is not a whole number. */
export function blocksBetween(config: BlockTimes, fromSec: number, toSec: number): number | undefined {
  const blocks = (toSec - fromSec) / config.blockTimeSec
  return Number.isInteger(blocks) ? blocks : undefined
}
