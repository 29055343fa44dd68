import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L2Ref } from '#types/blockRef'
import type { SingularCandidate } from '../rules/candidate.ts'
import { nextTimestamp } from '../rules/nextTimestamp.ts'
import type { UnrolledBlock } from '../rules/unrollSpan.ts'

/** Blocks of a span that are not built yet. */
export type SpanCursor = {
  readonly isEmpty: boolean
  open(blocks: Iterable<UnrolledBlock>): void
  clear(): void
  /**
   * Returns the block after the safe head. When the span's next block has another time, a block before it was not built, and the rest of the span is
   * dropped.
   */
  take(safe: L2Ref): SingularCandidate | undefined
}

export function createSpanCursor(config: RollupConfig): SpanCursor {
  let rest: Iterator<UnrolledBlock> = [].values()
  let upcoming: UnrolledBlock | undefined
  const advance = (): void => {
    const step = rest.next()
    upcoming = step.done ? undefined : step.value
  }
  const open = (next: Iterable<UnrolledBlock>): void => {
    rest = next[Symbol.iterator]()
    advance()
  }
  return {
    get isEmpty(): boolean {
      return upcoming === undefined
    },
    open,
    clear: () => open([]),
    take(safe: L2Ref): SingularCandidate | undefined {
      const block = upcoming
      if (block?.timestamp !== nextTimestamp(config, safe)) {
        open([])
        return undefined
      }
      advance()
      return { ...block, kind: 'singular', parentHash: safe.hash }
    },
  }
}
