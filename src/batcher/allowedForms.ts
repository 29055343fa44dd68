import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Compression } from '#lib/decompress'
import type { BatcherSettings } from './options.ts'

/** Forms of a channel that derivation reads; it drops all others. */
export type AllowedForms = {
  readonly span: boolean
  readonly brotli: boolean
  readonly blobs: boolean
  /** maximum size of the decompressed channel */
  readonly maxRlpBytes: number
}

/** Share of the maximum size that a channel may use, because the last block may exceed the target. */
const rlpShare = 0.8

/**
 * Returns the forms that a channel may have. A fork that allows a form must be active at the last L1 block, because the channel is read by the rules
 * of a later block. A fork that forbids a form must not be active before the channel is on L1. Pure.
 * @param l1TimeSec of the last L1 block
 * @param originTimeSec of the L1 origin of the channel's first block, which decides on span batches
 * @param landsWithinSec maximum time until the channel is on L1
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

/** Returns the chosen form, or singular batches and zlib where it is not allowed. Pure. */
export function chooseForm(choice: Choice, allowed: AllowedForms): { batches: 'span' | 'singular'; compression: Compression } {
  return {
    batches: choice.form !== 'singular' && allowed.span ? 'span' : 'singular',
    compression: choice.compression !== 'zlib' && allowed.brotli ? 'brotli' : 'zlib',
  }
}
