import type { RollupConfig } from './rollupConfig.ts'

/** The one source of block time: when the L2 block of this number is due, in milliseconds since 1970. */
export function timeOf(config: RollupConfig, number: number): number {
  return (config.genesis.l2TimeSec + (number - config.genesis.l2.number) * config.blockTimeSec) * 1000
}

/** Time of an L2 block as its header has it: whole seconds. */
export function timestampOf(config: RollupConfig, number: number): number {
  return Math.floor(timeOf(config, number) / 1000)
}

/** The number of the last L2 block due at this time (milliseconds) or before; undefined before genesis. */
export function numberAt(config: RollupConfig, timeMs: number): number | undefined {
  const blocks = Math.floor((timeMs / 1000 - config.genesis.l2TimeSec) / config.blockTimeSec)
  return blocks < 0 ? undefined : config.genesis.l2.number + blocks
}
