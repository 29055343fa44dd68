import { equalBytes } from '#lib/bytes'
import type { L1Ref, L2Ref } from '#types/blockRef'
import { depositType } from '#types/transaction'
import { TransactionList } from '../codec/transactionList.ts'
import type { SafeBlock } from '../ports.ts'
import { refuseTransactions } from './batchTransactions.ts'
import type { SpanCandidate, SpanElement } from './candidate.ts'
import { checkSequencerDrift } from './sequencerDrift.ts'
import { checkSpanBatchPrefix } from './spanBatchPrefix.ts'
import { accept, type BatchContext, drop, type SafeBlocks, type Validity } from './validity.ts'

function checkElement(
  { config, epochs }: BatchContext,
  element: SpanElement,
  before: { readonly epochNumber: number; readonly timestamp: number },
): Validity {
  const at = element.epochNumber - (epochs[0]?.number ?? 0)
  const origin: L1Ref | undefined = epochs[at]
  if (origin === undefined) return drop('epoch too old')
  if (element.timestamp < origin.timestamp) return drop('before its L1 origin')
  const drift = checkSequencerDrift(config, {
    timestamp: element.timestamp,
    isEmpty: element.transactions.length === 0,
    origin,
    advancesOrigin: element.epochNumber > before.epochNumber,
    nextOrigin: epochs[at + 1],
  })
  if (drift.kind !== 'accept') return drift
  const refusal = refuseTransactions(config, before.timestamp, element.timestamp, element.transactions)
  return refusal === undefined ? accept : drop(refusal)
}

function checkNewBlocks(context: BatchContext, span: SpanCandidate, parent: L2Ref): Validity {
  let before = { epochNumber: parent.l1Origin.number, timestamp: parent.timestamp }
  for (const element of span.elements) {
    if (element.timestamp > context.safe.timestamp) {
      const validity = checkElement(context, element, before)
      if (validity.kind !== 'accept') return validity
    }
    before = element
  }
  return accept
}

function refuseOverlap({ transactions, epochNumber }: SpanElement, safe: SafeBlock): string | undefined {
  const own = safe.transactions.filter((transaction) => transaction[0] !== depositType)
  if (own.length !== transactions.length) return 'number of transactions differs in an overlapped block'
  if (!equalBytes(TransactionList.of(own).encoded, transactions.encoded)) return 'transactions differ in an overlapped block'
  return safe.ref.l1Origin.number === epochNumber ? undefined : 'L1 origin differs in an overlapped block'
}

function checkOverlap({ safe }: BatchContext, span: SpanCandidate, parent: L2Ref, blocks: SafeBlocks): Validity {
  let { number } = parent
  for (const element of span.elements) {
    if (++number > safe.number) return accept
    const block = blocks.read(number)
    if (block === undefined) return { kind: 'need', l2Number: number }
    const refusal = refuseOverlap(element, block)
    if (refusal !== undefined) return drop(refusal)
  }
  return number < safe.number ? drop('ends before the safe head') : accept
}

/**
 * Checks a span batch against all rules before Holocene: the whole span is valid or invalid.
 * @param blocks safe blocks fetched so far, for a span that overlaps them
 * @see specs protocol/delta/span-batches.md, "Batch Queue"
 */
export function checkSpanBatch(context: BatchContext, span: SpanCandidate, blocks: SafeBlocks): Validity {
  const prefix = checkSpanBatchPrefix(context, span, blocks)
  if (prefix.kind !== 'fits') return prefix
  const fresh = checkNewBlocks(context, span, prefix.parent)
  return fresh.kind === 'accept' ? checkOverlap(context, span, prefix.parent, blocks) : fresh
}
