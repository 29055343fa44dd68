import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import { TransactionList } from '../codec/transactionList.ts'
import type { SingularCandidate } from './candidate.ts'
import { nextTimestamp } from './nextTimestamp.ts'

/** L1 block being read, and whether all its batches have been read. */
type Reading = { readonly number: number; readonly isDrained: boolean }

/** Consecutive L1 blocks, starting at the current epoch. */
type EpochWindow = { readonly blocks: readonly L1Ref[]; dropFirst(): void }

const hasExpired = (config: RollupConfig, epoch: L1Ref, { number, isDrained }: Reading): boolean => {
  const windowEnd = epoch.number + config.sequencingWindowBlocks
  return windowEnd < number || (windowEnd === number && isDrained)
}

/**
 * Returns the empty batch that derivation forces when the sequencing window of an epoch expired without a batch. An epoch has at least one block, and
 * further blocks while their time is before the next epoch's. An epoch that has all its blocks is dropped.
 * @returns undefined while the window is open
 * @see specs protocol/derivation.md, "Batch Queue", the last paragraphs
 */
export function forceBatch(config: RollupConfig, epochs: EpochWindow, safe: L2Ref, reading: Reading): SingularCandidate | undefined {
  const timestamp = nextTimestamp(config, safe)
  for (;;) {
    const [epoch, nextEpoch] = epochs.blocks
    if (epoch === undefined || nextEpoch === undefined || !hasExpired(config, epoch, reading)) return undefined
    const isFirstOfEpoch = epoch.number === safe.l1Origin.number + 1
    if (timestamp < nextEpoch.timestamp || isFirstOfEpoch) {
      const { number: epochNumber, hash: epochHash } = epoch
      return { kind: 'singular', parentHash: safe.hash, epochNumber, epochHash, timestamp, transactions: TransactionList.empty }
    }
    epochs.dropFirst()
  }
}
