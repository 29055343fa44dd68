import { timestampOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { isBeyondDrift } from '#derive/sequencing'
import type { L1Ref, L2Ref } from '#types/blockRef'

/** `none`: nothing can be built before L1 goes on, or before derivation has given up what stands on a replaced L1 block. */
export type OriginPlan = { readonly kind: 'stay' } | { readonly kind: 'next' } | { readonly kind: 'none'; readonly reason: string }

/**
 * The L1 origin of the block after `parent`: the next L1 block as soon as its time allows. Ahead of its origin by more than the drift, a block is
 * valid only if it takes the next one or comes before it: without knowing that one there is none to build. Pure.
 * @param current the parent's origin
 * @param next the L1 block after it; undefined: not there, or not confirmed
 * @see specs protocol/derivation.md, "Batch Queue", the rule on max_sequencer_drift
 */
export function planOrigin(config: RollupConfig, parent: L2Ref, current: L1Ref, next: L1Ref | undefined): OriginPlan {
  if (next !== undefined && next.parentHash !== current.hash) {
    return { kind: 'none', reason: `L1 block ${next.number} does not follow the origin, ${current.hash}` }
  }
  if (next !== undefined && next.timestamp <= timestampOf(config, parent.number + 1)) return { kind: 'next' }
  if (next !== undefined || !isBeyondDrift(config, parent, current)) return { kind: 'stay' }
  return { kind: 'none', reason: `it is too far ahead of L1 block ${current.number}, and the next one is not known` }
}
