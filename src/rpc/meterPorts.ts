import type { Address, Hash } from '#types/ids'
import type { SlicedWork } from './tracePorts.ts'

/** Execution time of a block by part, in whole microseconds. */
export type BlockMeter = {
  /** recovery of all senders of signed transactions */
  readonly recoveryUs: number
  /** includes the system calls before the first transaction */
  readonly executionUs: number
  /** includes the roots of transactions and receipts */
  readonly stateRootUs: number
  readonly transactions: readonly { readonly hash: Hash; readonly gasUsed: bigint; readonly executionUs: number }[]
}

/** Transactions to execute in sequence in one block. */
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
  /** maximum fee, wei per gas */
  readonly feeCap: bigint
  readonly gasUsed: bigint
  readonly executionUs: number
}

export type BundleMeter = {
  /** number of the block whose state the bundle ran on */
  readonly stateBlock: number
  readonly results: readonly BundledTransaction[]
  readonly executionUs: number
  readonly stateRootUs: number
}

/** A measurement, or the reason for its failure: malformed transactions, or a block that cannot run. */
export type MeterOutcome<T> =
  | { readonly kind: 'measured'; readonly value: T }
  | { readonly kind: 'unreadable' | 'refused'; readonly reason: string }

/** A measurement in progress. */
export type MeterWork<T> = SlicedWork<MeterOutcome<T>>

/** Runs blocks and bundles to measure their execution time. Keeps no results. */
export interface Metering {
  /** Measures a known block, canonical or not; undefined: unknown block. */
  block(hash: Hash): MeterWork<BlockMeter> | undefined
  /** Measures a bundle on the head at the time the work begins. */
  bundle(bundle: Bundle): MeterWork<BundleMeter>
}
