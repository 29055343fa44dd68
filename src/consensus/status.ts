import { numberAt } from '#chain/blockTime'
import type { RollupConfig } from '#chain/rollupConfig'
import type { Heads } from '#engine/port'
import type { Fault } from '#lib/fault'
import type { L1Ref } from '#types/blockRef'
import type { L1Heads } from './l1Watch.ts'

/** What the driver cannot go on without. `l1-head` is the normal wait at the tip; `reset` is the pause between resets that change nothing. */
export type WaitReason = 'l1-head' | 'l1-poll' | 'l1-block' | 'l1-blobs' | 'start-point' | 'engine' | 'reset'

export type Wait = {
  readonly reason: WaitReason
  /** when this wait began; wall clock */
  readonly sinceMs: number
  /** failed tries so far */
  readonly failures: number
  /** why the last of them failed */
  readonly fault?: Fault
}

/** A frozen picture of the driver. */
export type DriverStatus = {
  readonly phase: 'starting' | 'deriving' | 'stopped'
  readonly l1: L1Heads
  /** the L1 block that derivation read last */
  readonly origin: L1Ref | undefined
  readonly heads: Heads | undefined
  readonly wait: Wait | undefined
  /** resets since the process began */
  readonly resets: number
  /** why it stopped */
  readonly fault: Fault | undefined
}

/** For a progress line. Targets are undefined until they are known; `l2Target` is the last block that the L1 head leaves time for. */
export type Progress = {
  readonly l1Block: number | undefined
  readonly l1Target: number | undefined
  readonly l2Block: number | undefined
  readonly l2Target: number | undefined
}

export function progressOf(config: RollupConfig, { origin, l1, heads }: DriverStatus): Progress {
  return {
    l1Block: origin?.number,
    l1Target: l1.latest?.number,
    l2Block: heads?.safe.number,
    l2Target: l1.latest && numberAt(config, l1.latest.timestamp * 1000),
  }
}
