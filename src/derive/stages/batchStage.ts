import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'
import type { Step } from '../ports.ts'
import type { SingularCandidate } from '../rules/candidate.ts'
import { forceBatch } from '../rules/forcedBatch.ts'
import { checkSingularBatch } from '../rules/singularBatch.ts'
import type { SafeBlocks } from '../rules/validity.ts'
import { item, reset, wait } from '../stage.ts'
import type { BatchDecider, NextBatch } from './batchQueue.ts'
import type { BatchStream } from './batchStream.ts'
import { type Epochs, refuseSafeHead } from './epochs.ts'
import type { L1Traversal } from './l1Traversal.ts'

/**
 * Creates the batch queue from Holocene on. It takes batches strictly in order and keeps none for later. With an invalid batch, the rest of its
 * channel is dropped.
 * @param parts.accountedFor number of the last L1 block whose batches are not judged again
 * @see specs protocol/holocene/derivation.md, "Batch Queue"
 */
export function createBatchStage(
  config: RollupConfig,
  parts: { traversal: L1Traversal; epochs: Epochs; stream: BatchStream; safeBlocks: SafeBlocks; accountedFor: number },
  log: Log,
): BatchDecider {
  const { traversal, epochs, stream, safeBlocks, accountedFor } = parts
  /** batch whose verdict needs a safe block */
  let unjudged: SingularCandidate | undefined

  const drain = (): Step<never> => {
    for (;;) {
      const step = stream.skip()
      if (step.kind !== 'item') return step
    }
  }

  const force = (safe: L2Ref): Step<NextBatch> => {
    const batch = forceBatch(config, epochs, safe, { number: traversal.origin.number, isDrained: true })
    return batch === undefined ? wait : item({ batch, isLastInSpan: true })
  }

  /** Judges the next batch. Returns undefined when another round is needed. */
  const round = (safe: L2Ref): Step<NextBatch> | undefined => {
    const step = unjudged === undefined ? stream.next(safe) : item(unjudged)
    if (step.kind === 'wait') return force(safe)
    if (step.kind !== 'item') return step
    const batch = step.item
    const validity = checkSingularBatch({ config, epochs: epochs.blocks, safe, inclusion: traversal.origin }, batch, safeBlocks)
    unjudged = validity.kind === 'need' ? batch : undefined
    if (validity.kind === 'need') return { kind: 'need', want: { kind: 'l2-block', number: validity.l2Number } }
    if (validity.kind === 'accept') return item({ batch, isLastInSpan: true })
    if (validity.kind !== 'drop') return undefined
    log.warn('batch and its channel dropped', { l1: traversal.origin.number, timestamp: batch.timestamp, reason: validity.reason })
    stream.flush()
    return undefined
  }

  return {
    flush(): void {
      unjudged = undefined
      stream.flush()
    },
    next(safe: L2Ref): Step<NextBatch> {
      epochs.update(safe)
      // batches in the safe head's L1 origin, or in an L1 block before it, have no new blocks
      if (traversal.origin.number <= Math.max(safe.l1Origin.number, accountedFor)) return drain()
      const refusal = refuseSafeHead(epochs, safe)
      if (refusal !== undefined) return reset(refusal)
      for (;;) {
        const step = round(safe)
        if (step !== undefined) return step
      }
    },
  }
}
