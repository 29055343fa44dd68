import { numberAt, timeOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'

/**
 * Returns the last block with recorded proofs in the execution half; `latest` is undefined before the first one. Its faults are 'retry' or 'fatal',
 * as those of the source.
 */
export type ProofsStatus = (signal: AbortSignal) => Promise<{ readonly latest: number | undefined }>

/** Returns the number of the last block that may be followed: at most `maxAheadSec` of block time beyond the proofs. Pure. */
export function proofsLimit(config: RollupConfig, latest: number | undefined, maxAheadSec: number): number {
  const recorded = Math.max(latest ?? 0, config.genesis.l2.number)
  return numberAt(config, timeOf(config, recorded) + maxAheadSec * 1_000) ?? recorded
}
