import type { RollupConfig } from './rollupConfig.ts'

/** Returns the due time of an L2 block in milliseconds since 1970. All block times derive from this function. */
export function timeOf(config: RollupConfig, number: number): number {
  return (config.genesis.l2TimeSec + (number - config.genesis.l2.number) * config.blockTimeSec) * 1000
}

/** Returns the header timestamp of an L2 block: whole seconds. */
export function timestampOf(config: RollupConfig, number: number): number {
  return Math.floor(timeOf(config, number) / 1000)
}

/** Returns the time in seconds `index` blocks after `startSec`, which may be a time at which no block is due. */
export function timestampAfter(config: RollupConfig, startSec: number, index: number): number {
  return startSec + index * config.blockTimeSec
}

/** Returns the number of blocks between two times in seconds; undefined when it is not a whole number. */
export function blocksBetween(config: RollupConfig, fromSec: number, toSec: number): number | undefined {
  const blocks = (toSec - fromSec) / config.blockTimeSec
  return Number.isInteger(blocks) ? blocks : undefined
}

/** Returns the number of the last L2 block due at or before a time in milliseconds; undefined before genesis. */
export function numberAt(config: RollupConfig, timeMs: number): number | undefined {
  const blocks = Math.floor((timeMs / 1000 - config.genesis.l2TimeSec) / config.blockTimeSec)
  return blocks < 0 ? undefined : config.genesis.l2.number + blocks
}
