import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'
import type { Step } from '../ports.ts'
import { forceBatch } from '../rules/forcedBatch.ts'
import { checkSingularBatch } from '../rules/singularBatch.ts'
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
  parts: { traversal: L1Traversal; epochs: Epochs; stream: BatchStream; accountedFor: number },
  log: Log,
): BatchDecider {
  const { traversal, epochs, stream, accountedFor } = parts

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
    const step = stream.next(safe)
    if (step.kind === 'wait') return force(safe)
    if (step.kind !== 'item') return step
    const batch = step.item
    const validity = checkSingularBatch({ config, epochs: epochs.blocks, safe, inclusion: traversal.origin }, batch)
    if (validity.kind === 'accept') return item({ batch, isLastInSpan: true })
    if (validity.kind !== 'drop') return undefined
    log.warn('batch and its channel dropped', { l1: traversal.origin.number, timestamp: batch.timestamp, reason: validity.reason })
    stream.flush()
    return undefined
  }

  return {
    flush: () => stream.flush(),
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
