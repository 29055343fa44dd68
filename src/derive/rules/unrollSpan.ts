import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SpanCandidate, SpanElement } from './candidate.ts'

/** Block of a span with its epoch hash. Its parent is the safe head at the time when the block is next. */
export type UnrolledBlock = SpanElement & { readonly epochHash: L1Ref['hash'] }

/**
 * Returns the blocks of a span after the safe head.
 * @returns undefined when the epoch of a block is unknown: the span is invalid
 * @see specs protocol/holocene/derivation.md, "Span Batches", the note on overlapping spans
 */
export function unrollSpan(span: SpanCandidate, epochs: readonly L1Ref[], safe: L2Ref): readonly UnrolledBlock[] | undefined {
  const first = epochs[0]?.number ?? 0
  const blocks: UnrolledBlock[] = []
  for (const element of span.elements) {
    if (element.timestamp <= safe.timestamp) continue
    const epoch = epochs[element.epochNumber - first]
    if (epoch === undefined) return undefined
    blocks.push({ ...element, epochHash: epoch.hash })
  }
  return blocks
}
