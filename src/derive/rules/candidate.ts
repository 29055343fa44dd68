import { timestampAfter } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Hash } from '#types/ids'
import type { Batch } from '../codec/batch.ts'
import type { SingularBatch } from '../codec/singularBatch.ts'
import type { SpanBatch } from '../codec/spanBatch.ts'
import type { TransactionList } from '../codec/transactionList.ts'

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
  readonly transactions: TransactionList
}

/** Time and epoch of a block of a span. */
export type SpanPlace = { readonly epochNumber: number; readonly timestamp: number }
export type SpanElement = SpanPlace & { readonly transactions: TransactionList }

export type SpanCandidate = {
  readonly kind: 'span'
  readonly parentCheck: Uint8Array
  readonly l1OriginCheck: Uint8Array
  readonly first: SpanPlace
  readonly last: SpanPlace
  /** all blocks in order, including first and last; created one by one */
  readonly elements: Iterable<SpanElement>
}

export type Candidate = SingularCandidate | SpanCandidate

function singularCandidate(batch: SingularBatch): SingularCandidate {
  return { ...batch, epochNumber: Number(batch.epochNumber), timestamp: Number(batch.timestamp) }
}

function* elementsOf(config: RollupConfig, batch: SpanBatch, first: SpanPlace): Generator<SpanElement> {
  let { epochNumber } = first
  let index = 0
  for (const { advancesOrigin, transactions } of batch.blocks) {
    if (advancesOrigin && index > 0) epochNumber++
    yield { epochNumber, timestamp: timestampAfter(config, first.timestamp, index), transactions }
    index++
  }
}

/** Returns the candidate of a span batch. Epochs are counted back from the last block's; an impossible count results in a negative epoch. */
function spanCandidate(config: RollupConfig, batch: SpanBatch): SpanCandidate {
  const { parentCheck, l1OriginCheck, blockCount, originAdvances } = batch
  const lastEpoch = Number(batch.l1OriginNumber)
  const first = { epochNumber: lastEpoch - originAdvances, timestamp: config.genesis.l2TimeSec + Number(batch.relativeTimestamp) }
  const last = { epochNumber: lastEpoch, timestamp: timestampAfter(config, first.timestamp, blockCount - 1) }
  const elements = { [Symbol.iterator]: (): Iterator<SpanElement> => elementsOf(config, batch, first) }
  return { kind: 'span', parentCheck, l1OriginCheck, first, last, elements }
}

/** Returns a batch with absolute times and epochs. @see specs protocol/delta/span-batches.md, "How Derivation works with Span Batches" */
export function candidateOf(config: RollupConfig, batch: Batch): Candidate {
  return batch.kind === 'singular' ? singularCandidate(batch) : spanCandidate(config, batch)
}
