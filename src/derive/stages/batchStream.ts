import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'
import type { Step } from '../ports.ts'
import type { SingularCandidate, SpanCandidate } from '../rules/candidate.ts'
import { checkSpanBatchPrefix, refuseSpanFromDenim } from '../rules/spanBatchPrefix.ts'
import { unrollSpan } from '../rules/unrollSpan.ts'
import type { SafeBlocks } from '../rules/validity.ts'
import { item, type SafeHeadStage } from '../stage.ts'
import type { ChannelReader } from './channelReader.ts'
import type { Epochs } from './epochs.ts'
import type { L1Traversal } from './l1Traversal.ts'
import { createSpanCursor } from './spanCursor.ts'

export type BatchStream = SafeHeadStage<SingularCandidate> & {
  /** Reads a batch and discards it, in an L1 block whose batches have no new blocks. */
  skip(): Step<unknown>
  /** Drops the rest of the current span batch and its channel. */
  flush(): void
}

/**
 * Creates the stage that splits span batches into singular batches, from Holocene on. It checks the rules on the whole span; the next stage judges
 * each block.
 * @see specs protocol/holocene/derivation.md, "Span Batches"
 */
export function createBatchStream(
  config: RollupConfig,
  parts: { traversal: L1Traversal; epochs: Epochs; reader: ChannelReader; safeBlocks: SafeBlocks },
  log: Log,
): BatchStream {
  const { traversal, epochs, reader, safeBlocks } = parts
  const current = createSpanCursor(config)
  let unjudged: SpanCandidate | undefined

  const flush = (): void => {
    current.clear()
    unjudged = undefined
    reader.flush()
  }

  const drop = (reason: string): void => {
    log.warn('span batch and its channel dropped', { l1: traversal.origin.number, reason })
    flush()
  }

  /** Drops the rest of the current span when the next block is a Denim block. */
  const dropAtDenim = (safe: L2Ref): void => {
    const refusal = current.isEmpty ? undefined : refuseSpanFromDenim(config, safe)
    if (refusal !== undefined) drop(refusal)
  }

  /** @returns the step that needs a safe block, or undefined when the span is accepted or dropped */
  const judge = (span: SpanCandidate, safe: L2Ref): Step<never> | undefined => {
    const verdict = checkSpanBatchPrefix({ config, epochs: epochs.blocks, safe, inclusion: traversal.origin }, span, safeBlocks)
    if (verdict.kind === 'need') return { kind: 'need', want: { kind: 'l2-block', number: verdict.l2Number } }
    unjudged = undefined
    if (verdict.kind === 'drop') drop(verdict.reason)
    // 'undecided': the span's last origin is not read yet, so the span was posted before that L1 block existed; the span is skipped, its channel is
    // kept
    if (verdict.kind !== 'fits') return undefined
    const unrolled = unrollSpan(span, epochs.blocks, safe)
    if (unrolled === undefined) drop('epoch too old')
    else current.open(unrolled)
    return undefined
  }

  return {
    flush,
    skip: () => reader.next(),
    next(safe: L2Ref): Step<SingularCandidate> {
      dropAtDenim(safe)
      for (;;) {
        const block = current.take(safe)
        if (block !== undefined) return item(block)
        if (unjudged === undefined) {
          const step = reader.next()
          if (step.kind !== 'item') return step
          if (step.item.kind === 'singular') return item(step.item)
          unjudged = step.item
        }
        const blocked = judge(unjudged, safe)
        if (blocked !== undefined) return blocked
      }
    },
  }
}
