import { verifyBlobGas } from '#chainspec/blobFee'
import { activatesAt, type Fork } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { PayloadAttributes } from '#types/payload'
import { TransactionList } from './codec/transactionList.ts'
import type { L1Block, SafeHead } from './ports.ts'
import { epochOf } from './rules/epoch.ts'
import { nextTimestamp } from './rules/nextTimestamp.ts'
import { payloadAttributes } from './rules/payloadAttributes.ts'
import { maxSequencerDrift } from './rules/sequencerDrift.ts'

/** Forks in whose first block the sequencer adds no transactions to deposits and upgrade transactions. */
const quietForks: readonly Fork[] = ['ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian']

/** Returns whether the block after `parent` is beyond the sequencer drift of the origin, so that it may hold no user transactions. */
export function isBeyondDrift(config: RollupConfig, parent: L2Ref, origin: L1Ref): boolean {
  return nextTimestamp(config, parent) > origin.timestamp + maxSequencerDrift(config, origin)
}

/**
 * Returns the attributes that a sequencer builds on a block: those that derivation makes of a batch without transactions. They allow transactions of
 * the pool unless a derivation rule forbids them in this block.
 * @param parent with the system config it was built with
 * @param block L1 origin of the new block: that of the parent, or the L1 block after it
 * @param origin L1 origin of the parent
 * @returns the attributes, or the reason why the L1 origin does not fit
 * @throws Fault MALFORMED_DEPOSIT, L1_BLOB_SCHEDULE (fatal)
 * @see specs protocol/derivation.md, "Deriving Payload Attributes"; each fork's "Activation Block Rules"
 */
export function sequencedAttributes(
  config: RollupConfig,
  parent: SafeHead,
  block: L1Block,
  origin: Pick<L1Block, 'header'>,
): PayloadAttributes | string {
  const isNext = block.ref.hash !== parent.ref.l1Origin.hash
  if (isNext && config.schedule.ecotone !== undefined) verifyBlobGas(config, origin.header, block)
  const attributes = payloadAttributes(config, parent, epochOf(config, block), TransactionList.empty)
  if (typeof attributes === 'string') return attributes
  const { timestamp } = parent.ref
  const isFirst = quietForks.some((fork) => activatesAt(config.schedule, fork, timestamp, attributes.timestamp))
  return { ...attributes, noTxPool: isFirst || isBeyondDrift(config, parent.ref, block.ref) }
}
