import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SafeBlock } from '../ports.ts'

/**
 * Reason why a batch is not accepted now.
 * `past`: from Holocene on, the batch has no new block.
 * `future`: before Holocene, the batch may follow once another batch fills the gap.
 * `undecided`: the verdict depends on an L1 block that is not read yet.
 * `need`: the verdict depends on a block of the safe chain.
 */
export type Rejection =
  | { readonly kind: 'past' | 'future' | 'undecided' }
  /** `isPast`: before Holocene, the batch has no new block. This is usual after a start. */
  | { readonly kind: 'drop'; readonly reason: string; readonly isPast?: true }
  | { readonly kind: 'need'; readonly l2Number: number }

/** Verdict on a batch. */
export type Validity = { readonly kind: 'accept' } | Rejection

/** Chain state against which a batch is judged. */
export type BatchContext = {
  readonly config: RollupConfig
  /** consecutive L1 blocks read so far; the first is the earliest possible origin of the next block */
  readonly epochs: readonly L1Ref[]
  readonly safe: L2Ref
  /** L1 block in which the batch became complete */
  readonly inclusion: L1Ref
}

/** Safe blocks fetched so far; undefined when a block must be fetched. */
export type SafeBlocks = { read(number: number): SafeBlock | undefined }

export const accept: Validity = { kind: 'accept' }
export const past: Rejection = { kind: 'past' }
export const future: Rejection = { kind: 'future' }
export const undecided: Rejection = { kind: 'undecided' }
export const drop = (reason: string): Rejection => ({ kind: 'drop', reason })
export const dropPast: Rejection = { kind: 'drop', reason: 'in the past', isPast: true }
