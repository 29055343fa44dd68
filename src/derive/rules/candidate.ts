import { timestampAfter } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Hash } from '#types/ids'
import type { Batch } from '../codec/batch.ts'
import type { SingularBatch } from '../codec/singularBatch.ts'
import type { SpanBatch } from '../codec/spanBatch.ts'

/**
 * Batch with its time and epoch as numbers. Integers of 2^53 and more are rounded: they exceed every real time and block number, and are only
 * compared with those.
 */
export type SingularCandidate = {
  readonly kind: 'singular'
  readonly parentHash: Hash
  readonly epochNumber: number
  readonly epochHash: Hash
  /** seconds */
  readonly timestamp: number
  readonly transactions: readonly Uint8Array[]
}

export type SpanElement = { readonly epochNumber: number; readonly timestamp: number; readonly transactions: readonly Uint8Array[] }

export type SpanCandidate = {
  readonly kind: 'span'
  readonly parentCheck: Uint8Array
  readonly l1OriginCheck: Uint8Array
  readonly first: SpanElement
  readonly last: SpanElement
  /** all blocks, including first and last */
  readonly elements: readonly SpanElement[]
}

export type Candidate = SingularCandidate | SpanCandidate

function singularCandidate(batch: SingularBatch): SingularCandidate {
  return { ...batch, epochNumber: Number(batch.epochNumber), timestamp: Number(batch.timestamp) }
}

/** Returns the candidate of a span batch. Epochs are counted back from the last block's; an impossible count results in a negative epoch. */
function spanCandidate(config: RollupConfig, batch: SpanBatch): SpanCandidate {
  const start = config.genesis.l2TimeSec + Number(batch.relativeTimestamp)
  let epochNumber = Number(batch.l1OriginNumber)
  const elements: SpanElement[] = new Array(batch.blocks.length)
  for (let i = batch.blocks.length - 1; i >= 0; i--) {
    const block = batch.blocks[i]
    elements[i] = { epochNumber, timestamp: timestampAfter(config, start, i), transactions: block?.transactions ?? [] }
    if (block?.advancesOrigin) epochNumber--
  }
  const [first] = elements
  const last = elements.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('span batch without blocks')
  return { kind: 'span', parentCheck: batch.parentCheck, l1OriginCheck: batch.l1OriginCheck, first, last, elements }
}

/** Returns a batch with absolute times and epochs. @see specs protocol/delta/span-batches.md, "How Derivation works with Span Batches" */
export function candidateOf(config: RollupConfig, batch: Batch): Candidate {
  return batch.kind === 'singular' ? singularCandidate(batch) : spanCandidate(config, batch)
}
