import type { RollupConfig } from '#chain/rollupConfig'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { SafeBlock } from '../ports.ts'

/**
 * Why a batch is not taken now. `past`: Holocene, nothing new in it. `future`: before Holocene, may follow a gap that another batch fills.
 * `undecided`: an L1 block that is not read yet decides. `need`: a block of the safe chain decides.
 */
export type Rejection =
  | { readonly kind: 'past' | 'future' | 'undecided' }
  | { readonly kind: 'drop'; readonly reason: string }
  | { readonly kind: 'need'; readonly l2Number: number }

/** Verdict on a batch. */
export type Validity = { readonly kind: 'accept' } | Rejection

/** What a batch is judged against. */
export type BatchContext = {
  readonly config: RollupConfig
  /** consecutive L1 blocks as far as they are read; the first is the epoch in which the next block may stand */
  readonly epochs: readonly L1Ref[]
  readonly safe: L2Ref
  /** L1 block in which the batch became complete */
  readonly inclusion: L1Ref
}

/** Blocks of the safe chain that are at hand; undefined: ask for it. */
export type SafeBlocks = { read(number: number): SafeBlock | undefined }

export const accept: Validity = { kind: 'accept' }
export const past: Rejection = { kind: 'past' }
export const future: Rejection = { kind: 'future' }
export const undecided: Rejection = { kind: 'undecided' }
export const drop = (reason: string): Rejection => ({ kind: 'drop', reason })
