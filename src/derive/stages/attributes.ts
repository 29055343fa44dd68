import type { RollupConfig } from '#chainspec/rollupConfig'
import type { DerivedAttributes, SafeHead, Step } from '../ports.ts'
import { payloadAttributes } from '../rules/payloadAttributes.ts'
import { item, reset } from '../stage.ts'
import type { BatchDecider } from './batchQueue.ts'
import type { Epochs } from './epochs.ts'
import type { L1Traversal } from './l1Traversal.ts'

/**
 * Returns the payload attributes of the next batch.
 * @see specs protocol/derivation.md, "Payload Attributes Derivation"
 */
export function nextAttributes(
  config: RollupConfig,
  parts: { traversal: L1Traversal; epochs: Epochs; batches: BatchDecider },
  safe: SafeHead,
): Step<DerivedAttributes> {
  const step = parts.batches.next(safe.ref)
  if (step.kind !== 'item') return step
  const { batch, isLastInSpan } = step.item
  const origin = parts.epochs.blocks.find(({ number }) => number === batch.epochNumber)
  if (origin === undefined) return reset(`L1 origin ${batch.epochNumber} of a batch is unknown`)
  const attributes = payloadAttributes(config, safe, origin, batch.transactions)
  if (typeof attributes === 'string') return reset(attributes)
  return item({ parent: safe.ref, attributes, derivedFrom: parts.traversal.origin, isLastInSpan })
}
