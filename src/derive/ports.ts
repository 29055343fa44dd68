import type { SystemConfig } from '#chainspec/systemConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import type { Receipt } from '#types/receipt'

/** Whole L1 block. Its transactions and receipts are verified against the roots of its header, and the header against its hash. */
export type L1Block = {
  readonly ref: L1Ref
  readonly header: Header
  /** EIP-2718 bytes */
  readonly transactions: readonly Uint8Array[]
  readonly receipts: readonly Receipt[]
}

/** Input that derivation needs next. The driver fetches it and provides an answer of the same kind. */
export type Want =
  | { readonly kind: 'l1-block'; readonly number: number }
  | { readonly kind: 'blobs'; readonly block: L1Ref; readonly hashes: readonly Hash[] }
  | { readonly kind: 'l2-block'; readonly number: number }

/** Block of the safe chain: its reference, and its EIP-2718 transactions, deposits first. */
export type SafeBlock = { readonly ref: L2Ref; readonly transactions: readonly Uint8Array[] }

export type Answer =
  /** the canonical block at the number; derivation compares its parent and resets when it differs */
  | { readonly kind: 'l1-block'; readonly block: L1Block }
  /**
   * 131,072 bytes each, in the order of the hashes, each verified against its hash; 'missing': the slot has no such blobs, because the block is not
   * canonical or the blobs have expired
   */
  | { readonly kind: 'blobs'; readonly blobs: readonly Uint8Array[] | 'missing' }
  /** a block of the safe chain, for span batches that overlap it; undefined when unknown (derivation resets) */
  | { readonly kind: 'l2-block'; readonly number: number; readonly block: SafeBlock | undefined }

/**
 * Result of a step.
 * `need`: the driver fetches the input, calls `provide`, then calls `step` again. It waits for an 'l1-block' beyond the L1 head.
 * `wait`: this L1 block is read to its end. Only stages return it; `Pipeline.step` then needs the next L1 block.
 */
export type Step<T> =
  | { readonly kind: 'item'; readonly item: T }
  | { readonly kind: 'need'; readonly want: Want }
  | { readonly kind: 'wait' }
  | { readonly kind: 'reset'; readonly reason: string }

/** Safe head with the system config in force after it: the parent of the next block. */
export type SafeHead = { readonly ref: L2Ref; readonly systemConfig: SystemConfig }

/** Attributes of the block after the safe head, and the L1 block that completed their batch. */
export type DerivedAttributes = {
  readonly parent: L2Ref
  readonly attributes: PayloadAttributes
  readonly derivedFrom: L1Ref
  /** false while more blocks of the same span batch follow */
  readonly isLastInSpan: boolean
}

/** Block at which derivation starts after a start or a reset. */
export type StartPoint = {
  /** First L1 block to read: the safe head's L1 origin minus the channel timeout, never before the genesis origin. */
  readonly l1: L1Ref
  /** in force after `l1` */
  readonly systemConfig: SystemConfig
  readonly safe: SafeHead
  /**
   * Number of the last L1 block whose batches are all judged for the safe head. From Holocene on, batches in this block and before it are not
   * judged again: a batch that was dropped there (after a gap, or with its channel) could be valid on the current safe head. Absent when unknown.
   */
  readonly accountedFor?: number
}

/** Pipeline from L1 bytes to payload attributes. It is synchronous and holds all state of derivation. */
export interface Pipeline {
  /** Returns the next attributes on top of `safe`, or the reason why there are none yet. */
  step(safe: SafeHead): Step<DerivedAttributes>
  /** Provides the input of the last `need`. */
  provide(answer: Answer): void
  /** Drops the current channel and span batch. From Holocene on, called after a derived payload proved invalid. */
  flushChannel(): void
  reset(start: StartPoint): void
  /** L1 block read last. */
  readonly origin: L1Ref
}
