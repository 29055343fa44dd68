import { blocksBetween } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { toHex } from '#lib/hex'
import type { L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { SpanCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'
import { type BatchContext, drop, dropPast, future, past, type Rejection, type SafeBlocks, undecided } from './validity.ts'

/** Verdict on a span. `parent` is the safe block before the first block of the span. */
export type PrefixVerdict = { readonly kind: 'fits'; readonly parent: L2Ref } | Rejection

const matches = (check: Uint8Array, hash: Hash): boolean => hash.startsWith(toHex(check))

/** Checks that span batches are allowed at the origin of the first block. */
function checkDelta({ config, epochs }: BatchContext, span: SpanCandidate): Rejection | undefined {
  const [epoch, following] = epochs
  if (epoch === undefined) return undecided
  const origin = span.first.epochNumber === epoch.number + 1 ? following : epoch
  if (origin === undefined) return undecided
  return isActive(config.schedule, 'delta', origin.timestamp) ? undefined : drop('span batch before Delta')
}

function checkTime({ config, safe, inclusion }: BatchContext, span: SpanCandidate): Rejection | undefined {
  const isHolocene = isActive(config.schedule, 'holocene', inclusion.timestamp)
  const next = nextTimestamp(config, safe)
  if (span.first.timestamp > next) return isHolocene ? drop('after a gap') : future
  if (span.last.timestamp < next) return isHolocene ? past : dropPast
  return undefined
}

/**
 * Checks that the next block may come from a span batch. Which part of the channel is dropped after Denim begins is not written in Base's
 * documentation; pull requests 4583 and 4636 of base/base say the rest of the whole channel.
 */
export function refuseSpanFromDenim(config: RollupConfig, safe: L2Ref): string | undefined {
  return isActive(config.schedule, 'denim', nextTimestamp(config, safe)) ? 'span batch for a Denim block' : undefined
}

function checkDenim({ config, safe }: BatchContext): Rejection | undefined {
  const refusal = refuseSpanFromDenim(config, safe)
  return refusal === undefined ? undefined : drop(refusal)
}

/** Finds the safe block one block time before the first block of the span. */
function findParent({ config, safe }: BatchContext, span: SpanCandidate, blocks: SafeBlocks): L2Ref | Rejection {
  if (span.first.timestamp === nextTimestamp(config, safe)) return safe
  if (span.first.timestamp > safe.timestamp) return drop('between two block times')
  const overlapBlocks = blocksBetween(config, span.first.timestamp, safe.timestamp)
  if (overlapBlocks === undefined) return drop('not aligned with the overlapped blocks')
  const number = safe.number - overlapBlocks - 1
  if (number < config.genesis.l2.number) return drop('begins before the second block of the chain')
  return blocks.read(number)?.ref ?? { kind: 'need', l2Number: number }
}

function checkOrigins({ config, epochs, inclusion }: BatchContext, span: SpanCandidate, parent: L2Ref): Rejection | undefined {
  const start = span.first.epochNumber
  if (start + config.sequencingWindowBlocks < inclusion.number) return drop('included after the sequencing window')
  if (start > parent.l1Origin.number + 1) return drop('epoch too far in the future')
  const end = epochs.find(({ number }) => number === span.last.epochNumber)
  if (end === undefined) return undecided
  if (!matches(span.l1OriginCheck, end.hash)) return drop('epoch hash does not match')
  return start < parent.l1Origin.number ? drop('epoch too old') : undefined
}

/**
 * Checks the rules on a span as a whole. From Holocene on these are all rules on a span; its blocks are judged one by one.
 * @param blocks safe blocks fetched so far, for a span that overlaps them
 * @see specs protocol/delta/span-batches.md, "Batch Queue"; holocene/derivation.md, "Span Batches"
 */
export function checkSpanBatchPrefix(context: BatchContext, span: SpanCandidate, blocks: SafeBlocks): PrefixVerdict {
  const early = checkDelta(context, span) ?? checkTime(context, span) ?? checkDenim(context)
  if (early !== undefined) return early
  const parent = findParent(context, span, blocks)
  if ('kind' in parent) return parent
  if (!matches(span.parentCheck, parent.hash)) return drop('parent check does not match')
  return checkOrigins(context, span, parent) ?? { kind: 'fits', parent }
}
