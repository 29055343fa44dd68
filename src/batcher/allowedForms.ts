import { isActive } from '#chain/forks'
import type { RollupConfig } from '#chain/rollupConfig'
import type { Compression } from '#lib/decompress'
import type { BatcherSettings } from './options.ts'

/** What derivation reads: anything else it drops. */
export type AllowedForms = {
  readonly span: boolean
  readonly brotli: boolean
  readonly blobs: boolean
  /** what a channel may decompress to */
  readonly maxRlpBytes: number
}

/** Left of what a channel may decompress to, for the block that overshoots. */
const rlpShare = 0.8

/**
 * What a channel may be made of. What one fork brings must be active already at the last L1 block: what lands later is read by later rules. What
 * a fork ends must outlast the time until it lands. Pure.
 * @param l1TimeSec of the last L1 block
 * @param originTimeSec of the L1 origin of the channel's first block: it decides about span batches
 * @param landsWithinSec how long it may take until the channel is on L1
 * @see specs protocol/delta/span-batches.md (spans), ecotone/derivation.md (blobs), fjord/derivation.md (brotli, size)
 */
export function allowedForms(
  { schedule }: Pick<RollupConfig, 'schedule'>,
  l1TimeSec: number,
  originTimeSec: number,
  landsWithinSec: number,
): AllowedForms {
  const isFjord = isActive(schedule, 'fjord', l1TimeSec)
  return {
    span: isActive(schedule, 'delta', originTimeSec) && !isActive(schedule, 'denim', l1TimeSec + landsWithinSec),
    brotli: isFjord,
    blobs: isActive(schedule, 'ecotone', l1TimeSec),
    maxRlpBytes: Math.floor((isFjord ? 100_000_000 : 10_000_000) * rlpShare),
  }
}

type Choice = Pick<BatcherSettings, 'form' | 'compression'>

/** The form that was chosen, or the plainest where that is not allowed (yet). Pure. */
export function chooseForm(choice: Choice, allowed: AllowedForms): { batches: 'span' | 'singular'; compression: Compression } {
  return {
    batches: choice.form !== 'singular' && allowed.span ? 'span' : 'singular',
    compression: choice.compression !== 'zlib' && allowed.brotli ? 'brotli' : 'zlib',
  }
}
