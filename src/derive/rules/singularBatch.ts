import { isActive } from '#chainspec/forks'
import type { L1Ref } from '#types/blockRef'
import { refuseTransactions } from './batchTransactions.ts'
import type { SingularCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'
import { checkSequencerDrift } from './sequencerDrift.ts'
import { accept, type BatchContext, drop, dropPast, future, past, type Rejection, undecided, type Validity } from './validity.ts'

type Origin = { readonly kind: 'origin'; readonly ref: L1Ref; readonly next: L1Ref | undefined; readonly advances: boolean }

/** Returns the L1 block of a batch's epoch, or the verdict when that block is unknown or not allowed. */
function originOf(batch: SingularCandidate, epochs: readonly L1Ref[]): Origin | Rejection {
  const [epoch, following, third] = epochs
  if (epoch === undefined) return undecided
  if (batch.epochNumber < epoch.number) return drop('epoch too old')
  if (batch.epochNumber > epoch.number + 1) return drop('epoch too far in the future')
  if (batch.epochNumber === epoch.number) return { kind: 'origin', ref: epoch, next: following, advances: false }
  return following === undefined ? undecided : { kind: 'origin', ref: following, next: third, advances: true }
}

function checkOrigin({ config, epochs, safe }: BatchContext, batch: SingularCandidate): Validity {
  const origin = originOf(batch, epochs)
  if (origin.kind !== 'origin') return origin
  const { ref, next, advances } = origin
  if (batch.epochHash !== ref.hash) return drop('epoch hash does not match')
  if (batch.timestamp < ref.timestamp) return drop('before its L1 origin')
  const drift = checkSequencerDrift(config, {
    timestamp: batch.timestamp,
    isEmpty: batch.transactions.length === 0,
    origin: ref,
    advancesOrigin: advances,
    nextOrigin: next,
  })
  if (drift.kind !== 'accept') return drift
  const refusal = refuseTransactions(config, safe.timestamp, batch.timestamp, batch.transactions)
  return refusal === undefined ? accept : drop(refusal)
}

/**
 * Decides whether a singular batch is the next block after the safe head.
 * @see specs protocol/derivation.md, "Batch Queue", "Rules, in validation order"; holocene/derivation.md, "Batch Queue"
 */
export function checkSingularBatch(context: BatchContext, batch: SingularCandidate): Validity {
  const { config, epochs, safe, inclusion } = context
  if (epochs.length === 0) return undecided
  const isHolocene = isActive(config.schedule, 'holocene', inclusion.timestamp)
  const next = nextTimestamp(config, safe)
  if (batch.timestamp > next) return isHolocene ? drop('after a gap') : future
  if (batch.timestamp < next) return isHolocene ? past : dropPast
  if (batch.parentHash !== safe.hash) return drop('parent hash does not match')
  if (batch.epochNumber + config.sequencingWindowBlocks < inclusion.number) return drop('included after the sequencing window')
  return checkOrigin(context, batch)
}
