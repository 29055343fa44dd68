import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref } from '#types/blockRef'
import { accept, drop, undecided, type Validity } from './validity.ts'

const fjordDriftSec = 1800

/**
 * Returns the maximum time of a block after its L1 origin, in seconds. @see specs protocol/fjord/derivation.md, "Constant Maximum Sequencer Drift"
 */
export function maxSequencerDrift(config: RollupConfig, origin: L1Ref): number {
  return isActive(config.schedule, 'fjord', origin.timestamp) ? fjordDriftSec : config.maxSequencerDriftSec
}

type DriftingBlock = {
  readonly timestamp: number
  readonly isEmpty: boolean
  readonly origin: L1Ref
  /** the origin differs from the parent's */
  readonly advancesOrigin: boolean
  /** the L1 block after the origin, if known */
  readonly nextOrigin: L1Ref | undefined
}

/**
 * Checks a block against the sequencer drift. A block beyond the drift must be empty, and may keep its parent's origin only while the time of the
 * next origin is after its own.
 * @see specs protocol/derivation.md, "Batch Queue", the rule on max_sequencer_drift
 */
export function checkSequencerDrift(config: RollupConfig, block: DriftingBlock): Validity {
  if (block.timestamp <= block.origin.timestamp + maxSequencerDrift(config, block.origin)) return accept
  if (!block.isEmpty) return drop('transactions beyond the sequencer drift')
  if (block.advancesOrigin) return accept
  if (block.nextOrigin === undefined) return undecided
  return block.timestamp >= block.nextOrigin.timestamp ? drop('beyond the sequencer drift without the next origin') : accept
}
