import type { Address, Hash } from '#types/ids'

/** How long each part took, in whole microseconds. */
export type BlockMeter = {
  /** of all senders of signed transactions */
  readonly recoveryUs: number
  /** what comes before the first transaction included */
  readonly executionUs: number
  /** with the roots of transactions and receipts */
  readonly stateRootUs: number
  readonly transactions: readonly { readonly hash: Hash; readonly gasUsed: bigint; readonly executionUs: number }[]
}

/** Transactions that are to be in one block, one after the other. */
export type Bundle = {
  /** EIP-2718 bytes */
  readonly transactions: readonly Uint8Array[]
  /** seconds; absent: one block time after the head */
  readonly timestamp: number | undefined
}

export type BundledTransaction = {
  readonly hash: Hash
  readonly from: Address
  /** null: a creation */
  readonly to: Address | null
  /** wei */
  readonly value: bigint
  /** the most it pays, wei per gas */
  readonly feeCap: bigint
  readonly gasUsed: bigint
  readonly executionUs: number
}

export type BundleMeter = {
  /** number of the block on whose state it ran */
  readonly stateBlock: number
  readonly results: readonly BundledTransaction[]
  readonly executionUs: number
  readonly stateRootUs: number
}

/** What was measured, or why it could not be: its bytes are no transactions, or it cannot run. */
export type MeterOutcome<T> =
  | { readonly kind: 'measured'; readonly value: T }
  | { readonly kind: 'unreadable' | 'refused'; readonly reason: string }

/** A measurement that is being made. Dispose of it, finished or not. */
export interface MeterWork<T> extends Disposable {
  /** Works for some milliseconds. @returns whether it is finished; 'pruned' when the state it begins on is not retained any more */
  work(): boolean | 'pruned'
  /** undefined: not finished */
  readonly outcome: MeterOutcome<T> | undefined
}

/** Runs blocks and bundles to see how long they take. Nothing of it is kept. */
export interface Metering {
  /** A block that the chain has, canonical or not; undefined when there is none. */
  block(hash: Hash): MeterWork<BlockMeter> | undefined
  /** On the head, as it is when the work begins. */
  bundle(bundle: Bundle): MeterWork<BundleMeter>
}
