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
 * of a later block. Denim forbids spans by the time of their L2 blocks, so a span before it is read however late it is on L1. Pure.
 * @param l1TimeSec of the last L1 block
 * @param first times of the channel's first block and of its L1 origin, which decide on span batches
 * @see specs protocol/delta/span-batches.md (spans), ecotone/derivation.md (blobs), fjord/derivation.md (brotli, size); Base's documentation, "Denim"
 */
export function allowedForms(
  { schedule }: Pick<RollupConfig, 'schedule'>,
  l1TimeSec: number,
  first: { readonly originSec: number; readonly blockSec: number },
): AllowedForms {
  const isFjord = isActive(schedule, 'fjord', l1TimeSec)
  return {
    span: isActive(schedule, 'delta', first.originSec) && !isActive(schedule, 'denim', first.blockSec),
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
