import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L2Ref } from '#types/blockRef'
import type { SingularCandidate } from '../rules/candidate.ts'
import { nextTimestamp } from '../rules/nextTimestamp.ts'
import type { UnrolledBlock } from '../rules/unrollSpan.ts'

/** Blocks of a span that are not built yet. */
export type SpanCursor = {
  readonly isEmpty: boolean
  open(blocks: readonly UnrolledBlock[]): void
  clear(): void
  /**
   * Returns the block after the safe head. When the span's next block has another time, a block before it was not built, and the rest of the span is
   * dropped.
   */
  take(safe: L2Ref): SingularCandidate | undefined
}

export function createSpanCursor(config: RollupConfig): SpanCursor {
  let blocks: readonly UnrolledBlock[] = []
  let taken = 0
  const open = (next: readonly UnrolledBlock[]): void => {
    blocks = next
    taken = 0
  }
  return {
    get isEmpty(): boolean {
      return taken >= blocks.length
    },
    open,
    clear: () => open([]),
    take(safe: L2Ref): SingularCandidate | undefined {
      const block = blocks[taken++]
      if (block?.timestamp === nextTimestamp(config, safe)) return { ...block, kind: 'singular', parentHash: safe.hash }
      open([])
      return undefined
    },
  }
}
