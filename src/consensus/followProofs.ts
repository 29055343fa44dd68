import { numberAt, timeOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'

/** How far the execution half has recorded proofs; `latest` undefined: nothing yet. Its faults are as the source's: 'retry' or 'fatal'. */
export type ProofsStatus = (signal: AbortSignal) => Promise<{ readonly latest: number | undefined }>

/** Number of the last block that may be followed: at most `maxAheadSec` of block time beyond the proofs. Pure. */
export function proofsLimit(config: RollupConfig, latest: number | undefined, maxAheadSec: number): number {
  const recorded = Math.max(latest ?? 0, config.genesis.l2.number)
  return numberAt(config, timeOf(config, recorded) + maxAheadSec * 1_000) ?? recorded
}
