import { timestampOf } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import type { L1Ref, L2Ref } from '#types/blockRef'
import { refuseTransactions } from './batchTransactions.ts'
import type { SingularCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'
import { checkSequencerDrift } from './sequencerDrift.ts'
import {
  accept,
  type BatchContext,
  drop,
  dropPast,
  future,
  past,
  type Rejection,
  type SafeBlocks,
  undecided,
  type Validity,
} from './validity.ts'

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
 * Judges a batch for the time of the next block whose parent is not the safe head. Five Denim blocks share a timestamp, so the batch may be for an
 * earlier block of the same second, which is already safe. Such a batch is skipped; its channel is kept.
 * @see base/base pull request 4783
 */
function checkStale({ config, safe }: BatchContext, batch: SingularCandidate, blocks: SafeBlocks): Validity {
  const isOfSecond = (number: number): boolean => timestampOf(config, number) === batch.timestamp
  let child: L2Ref = safe
  while (isActive(config.schedule, 'denim', batch.timestamp) && isOfSecond(child.number)) {
    if (child.parentHash === batch.parentHash) return past
    const below = child.number - 1
    if (below <= config.genesis.l2.number || !isOfSecond(below)) break
    const block = blocks.read(below)
    if (block === undefined) return { kind: 'need', l2Number: below }
    child = block.ref
  }
  return drop('parent hash does not match')
}

/**
 * Decides whether a singular batch is the next block after the safe head.
 * @param blocks safe blocks fetched so far, for a batch with another parent in the second of the next block
 * @see specs protocol/derivation.md, "Batch Queue", "Rules, in validation order"; holocene/derivation.md, "Batch Queue"
 */
export function checkSingularBatch(context: BatchContext, batch: SingularCandidate, blocks: SafeBlocks): Validity {
  const { config, epochs, safe, inclusion } = context
  if (epochs.length === 0) return undecided
  const isHolocene = isActive(config.schedule, 'holocene', inclusion.timestamp)
  const next = nextTimestamp(config, safe)
  if (batch.timestamp > next) return isHolocene ? drop('after a gap') : future
  if (batch.timestamp < next) return isHolocene ? past : dropPast
  if (batch.parentHash !== safe.hash) return checkStale(context, batch, blocks)
  if (batch.epochNumber + config.sequencingWindowBlocks < inclusion.number) return drop('included after the sequencing window')
  return checkOrigin(context, batch)
}
