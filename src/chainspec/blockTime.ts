import type { RollupConfig } from './rollupConfig.ts'

/** The one source of block time: when the L2 block of this number is due, in milliseconds since 1970. */
export function timeOf(config: RollupConfig, number: number): number {
  return (config.genesis.l2TimeSec + (number - config.genesis.l2.number) * config.blockTimeSec) * 1000
}

/** Time of an L2 block as its header has it: whole seconds. */
export function timestampOf(config: RollupConfig, number: number): number {
  return Math.floor(timeOf(config, number) / 1000)
}

/** Seconds since 1970 of the block `index` places after one at `startSec`, which need not be a time at which a block is due. */
export function timestampAfter(config: RollupConfig, startSec: number, index: number): number {
  return startSec + index * config.blockTimeSec
}

/** How many blocks it is from one time to a later one, both in seconds; undefined when it is no whole number. */
export function blocksBetween(config: RollupConfig, fromSec: number, toSec: number): number | undefined {
  const blocks = (toSec - fromSec) / config.blockTimeSec
  return Number.isInteger(blocks) ? blocks : undefined
}

/** The number of the last L2 block due at this time (milliseconds) or before; undefined before genesis. */
export function numberAt(config: RollupConfig, timeMs: number): number | undefined {
  const blocks = Math.floor((timeMs / 1000 - config.genesis.l2TimeSec) / config.blockTimeSec)
  return blocks < 0 ? undefined : config.genesis.l2.number + blocks
}
