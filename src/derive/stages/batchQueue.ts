import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Step } from '../ports.ts'
import type { Candidate, SingularCandidate, SpanCandidate } from '../rules/candidate.ts'
import { forceBatch } from '../rules/forcedBatch.ts'
import { checkSingularBatch } from '../rules/singularBatch.ts'
import { checkSpanBatch } from '../rules/spanBatch.ts'
import { unrollSpan } from '../rules/unrollSpan.ts'
import type { SafeBlocks, Validity } from '../rules/validity.ts'
import { item, type Need, reset, type SafeHeadStage, wait } from '../stage.ts'
import type { ChannelReader } from './channelReader.ts'
import { type Epochs, refuseSafeHead } from './epochs.ts'
import type { L1Traversal } from './l1Traversal.ts'
import { createSpanCursor } from './spanCursor.ts'

/** Next block to build. `isLastInSpan`: no block of the same span batch follows. */
export type NextBatch = { readonly batch: SingularCandidate; readonly isLastInSpan: boolean }

/** Stage that decides on batches. Holocene has a second implementation. */
export type BatchDecider = SafeHeadStage<NextBatch> & {
  /** Drops the rest of the current span batch and its channel. */
  flush(): void
}

type Drop = Extract<Validity, { kind: 'drop' }>
type Included = { readonly candidate: Candidate; readonly inclusion: L1Ref }
type Chosen = { readonly kind: 'chosen'; readonly candidate: Candidate } | { readonly kind: 'none' | 'undecided' } | Need

/**
 * Creates the batch queue before Holocene. It keeps batches in any order until they are next; of several valid batches for a block, the batch
 * included first is taken.
 * @see specs protocol/derivation.md, "Batch Queue"; delta/span-batches.md, "Batch Queue"
 */
export function createBatchQueue(
  config: RollupConfig,
  parts: { traversal: L1Traversal; epochs: Epochs; reader: ChannelReader; safeBlocks: SafeBlocks },
  log: Log,
): BatchDecider {
  const { traversal, epochs, reader, safeBlocks } = parts
  let batches: Included[] = []
  /** read, but not judged yet */
  let incoming: Included | undefined
  const span = createSpanCursor(config)

  const check = ({ candidate, inclusion }: Included, safe: L2Ref): Validity => {
    const context = { config, epochs: epochs.blocks, safe, inclusion }
    return candidate.kind === 'singular'
      ? checkSingularBatch(context, candidate, safeBlocks)
      : checkSpanBatch(context, candidate, safeBlocks)
  }

  const logDrop = ({ candidate }: Included, { reason, isPast }: Drop): void => {
    // after a start, derivation reads L1 from before the safe head, so batches of safe blocks are expected
    log[isPast ? 'debug' : 'warn']('batch dropped', { kind: candidate.kind, l1: traversal.origin.number, reason })
  }

  /** @returns the step that blocks, or undefined when the next batch can be read */
  const settleIncoming = (safe: L2Ref): Step<never> | undefined => {
    if (incoming === undefined) return undefined
    const validity = check(incoming, safe)
    if (validity.kind === 'need') return { kind: 'need', want: { kind: 'l2-block', number: validity.l2Number } }
    if (validity.kind === 'drop') logDrop(incoming, validity)
    else batches.push(incoming)
    incoming = undefined
    return undefined
  }

  const choose = (safe: L2Ref): Chosen => {
    const kept: Included[] = []
    for (const [at, batch] of batches.entries()) {
      const validity = check(batch, safe)
      switch (validity.kind) {
        case 'need':
          return { kind: 'need', want: { kind: 'l2-block', number: validity.l2Number } }
        case 'future':
          kept.push(batch)
          break
        case 'past':
          break
        case 'drop':
          logDrop(batch, validity)
          break
        case 'undecided':
          batches = [...kept, ...batches.slice(at)]
          return { kind: 'undecided' }
        case 'accept':
          batches = [...kept, ...batches.slice(at + 1)]
          return { kind: 'chosen', candidate: batch.candidate }
      }
    }
    batches = kept
    return { kind: 'none' }
  }

  const force = (safe: L2Ref, isDrained: boolean): Step<NextBatch> | undefined => {
    const batch = forceBatch(config, epochs, safe, { number: traversal.origin.number, isDrained })
    return batch && item({ batch, isLastInSpan: true })
  }

  const openSpan = (candidate: SpanCandidate, safe: L2Ref): Step<NextBatch> => {
    span.open(unrollSpan(candidate, epochs.blocks, safe) ?? [])
    const next = takeFromSpan(safe)
    return next === undefined ? reset('an accepted span batch has no next block') : item(next)
  }

  const takeFromSpan = (safe: L2Ref): NextBatch | undefined => {
    const batch = span.take(safe)
    return batch && { batch, isLastInSpan: span.isEmpty }
  }

  /** Reads one more batch and judges it for the first time. */
  const load = (safe: L2Ref): Step<never> | { readonly kind: 'loaded'; readonly isDrained: boolean } => {
    const blocked = settleIncoming(safe)
    if (blocked !== undefined) return blocked
    const step = reader.next()
    if (step.kind === 'wait') return { kind: 'loaded', isDrained: true }
    if (step.kind !== 'item') return step
    if (!epochs.isBehind(safe)) incoming = { candidate: step.item, inclusion: traversal.origin }
    return settleIncoming(safe) ?? { kind: 'loaded', isDrained: false }
  }

  /** Returns the next block, or undefined when no batch decides it yet. */
  const derive = (safe: L2Ref, isDrained: boolean): Step<NextBatch> | undefined => {
    const refusal = refuseSafeHead(epochs, safe)
    if (refusal !== undefined) return reset(refusal)
    const chosen = choose(safe)
    switch (chosen.kind) {
      case 'chosen':
        return chosen.candidate.kind === 'span' ? openSpan(chosen.candidate, safe) : item({ batch: chosen.candidate, isLastInSpan: true })
      case 'none':
        return force(safe, isDrained)
      case 'undecided':
        return undefined
      case 'need':
        return chosen
    }
  }

  /** Runs one round, which reads at most one more batch. Returns undefined when another round is needed. */
  const round = (safe: L2Ref): Step<NextBatch> | undefined => {
    const loaded = load(safe)
    if (loaded.kind !== 'loaded') return loaded
    const derived = epochs.isBehind(safe) ? undefined : derive(safe, loaded.isDrained)
    return derived ?? (loaded.isDrained ? wait : undefined)
  }

  return {
    flush(): void {
      span.clear()
      reader.flush()
    },
    next(safe: L2Ref): Step<NextBatch> {
      const next = takeFromSpan(safe)
      if (next !== undefined) return item(next)
      epochs.update(safe)
      for (;;) {
        const step = round(safe)
        if (step !== undefined) return step
      }
    },
  }
}
