import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SpanCandidate, SpanElement } from './candidate.ts'

/** A block of a span whose epoch is known; its parent is whatever block is safe when its turn comes. */
export type UnrolledBlock = SpanElement & { readonly epochHash: L1Ref['hash'] }

/**
 * The blocks of a span after the safe head.
 * @returns undefined when an epoch is none of the known ones: the span is invalid
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
