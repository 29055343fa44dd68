import type { L1Ref, L2Ref } from './blockRef.ts'
import type { TrustRecord } from './trust.ts'

/** Heads of the consensus half; undefined while unknown. */
export type RollupStatus = {
  /** the last L1 block that derivation has read */
  readonly currentL1: L1Ref | undefined
  readonly headL1: L1Ref | undefined
  readonly safeL1: L1Ref | undefined
  readonly finalizedL1: L1Ref | undefined
  readonly unsafeL2: L2Ref | undefined
  readonly safeL2: L2Ref | undefined
  readonly finalizedL2: L2Ref | undefined
  /** block on which the state begins; absent when the execution half is another process */
  readonly trust?: TrustRecord | undefined
}
