import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SpanCandidate, SpanElement, SpanPlace } from './candidate.ts'

/** Block of a span with its epoch hash. Its parent is the safe head at the time when the block is next. */
export type UnrolledBlock = SpanElement & { readonly epochHash: L1Ref['hash'] }

function* freshBlocks(span: SpanCandidate, epochs: readonly L1Ref[], safe: L2Ref): Generator<UnrolledBlock> {
  for (const element of span.elements) {
    const epoch = epochAt(epochs, element)
    if (element.timestamp > safe.timestamp && epoch !== undefined) yield { ...element, epochHash: epoch.hash }
  }
}

const epochAt = (epochs: readonly L1Ref[], { epochNumber }: SpanPlace): L1Ref | undefined => epochs[epochNumber - (epochs[0]?.number ?? 0)]

/**
 * Returns the blocks of a span after the safe head, created one by one.
 * @returns undefined when the epoch of a block is unknown: the span is invalid
 * @see specs protocol/holocene/derivation.md, "Span Batches", the note on overlapping spans
 */
export function unrollSpan(span: SpanCandidate, epochs: readonly L1Ref[], safe: L2Ref): Iterable<UnrolledBlock> | undefined {
  // the epochs of a span never decrease and leave none out, so that those between a known first and a known last one are known
  for (const element of span.elements) {
    if (element.timestamp <= safe.timestamp) continue
    const areKnown = epochAt(epochs, element) !== undefined && epochAt(epochs, span.last) !== undefined
    return areKnown ? freshBlocks(span, epochs, safe) : undefined
  }
  return []
}
