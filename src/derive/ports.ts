import type { SystemConfig } from '#chain/systemConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import type { Receipt } from '#types/receipt'

/** A whole L1 block whose transactions and receipts were checked against the roots of its header, and the header against its hash. */
export type L1Block = {
  readonly ref: L1Ref
  readonly header: Header
  /** EIP-2718 bytes */
  readonly transactions: readonly Uint8Array[]
  readonly receipts: readonly Receipt[]
}

/** What derivation wants next; the driver fetches it and gives the answer with the same kind. */
export type Want =
  | { readonly kind: 'l1-block'; readonly number: number }
  | { readonly kind: 'blobs'; readonly block: L1Ref; readonly hashes: readonly Hash[] }
  | { readonly kind: 'l2-block'; readonly number: number }

/** A block of the safe chain: its place, and its EIP-2718 transactions (deposits first). */
export type SafeBlock = { readonly ref: L2Ref; readonly transactions: readonly Uint8Array[] }

export type Answer =
  /** the canonical block at the number, whatever its parent: derivation compares and resets */
  | { readonly kind: 'l1-block'; readonly block: L1Block }
  /** 131,072 bytes each, in the order of the hashes, each verified against its own; 'missing': the slot holds no such blobs any more */
  | { readonly kind: 'blobs'; readonly blobs: readonly Uint8Array[] | 'missing' }
  /** of the safe chain, for span batches that overlap it; undefined when unknown (derivation resets) */
  | { readonly kind: 'l2-block'; readonly number: number; readonly block: SafeBlock | undefined }

/**
 * `need`: the driver fetches it and calls `provide`, then pulls again; a wanted 'l1-block' beyond the head of L1 is what it waits for.
 * `wait`: this L1 block holds no more; only between stages, `Pipeline.step` then wants the next one.
 */
export type Step<T> =
  | { readonly kind: 'item'; readonly item: T }
  | { readonly kind: 'need'; readonly want: Want }
  | { readonly kind: 'wait' }
  | { readonly kind: 'reset'; readonly reason: string }

/** The safe head with the system config in force after it: what the next block is built on. */
export type SafeHead = { readonly ref: L2Ref; readonly systemConfig: SystemConfig }

/** Attributes of the block after the safe head, and the L1 block whose reading completed them. */
export type DerivedAttributes = {
  readonly parent: L2Ref
  readonly attributes: PayloadAttributes
  readonly derivedFrom: L1Ref
  /** false while more blocks of the same span batch follow */
  readonly isLastInSpan: boolean
}

/** Where derivation begins anew. */
export type StartPoint = {
  /** The first block that is read: the safe head's L1 origin minus the channel timeout, never before the genesis origin. */
  readonly l1: L1Ref
  /** in force after `l1` */
  readonly systemConfig: SystemConfig
  readonly safe: SafeHead
  /**
   * Number of the last L1 block that has done all it does to the safe head. From Holocene on what it and those before it hold is not judged
   * again: a batch that was dropped there (after a gap, or with its channel) might fit the safe head of today. Absent: not known.
   */
  readonly accountedFor?: number
}

/** L1 bytes → payload attributes. Synchronous; holds all state of derivation. */
export interface Pipeline {
  /** The next attributes on top of `safe`, or what is in the way. */
  step(safe: SafeHead): Step<DerivedAttributes>
  /** Answers the last `need`. */
  provide(answer: Answer): void
  /** Drops the current channel and span batch: Holocene, after a derived payload proved invalid. */
  flushChannel(): void
  reset(start: StartPoint): void
  /** The L1 block read last. */
  readonly origin: L1Ref
}
