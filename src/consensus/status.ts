import { numberAt } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import type { Fault } from '#lib/fault'
import type { L1Ref } from '#types/blockRef'
import type { L1Heads } from './l1Watch.ts'
import type { Wait } from './waits.ts'

/** A frozen picture of the consensus half. */
export type DriverStatus = {
  readonly phase: 'starting' | 'deriving' | 'stopped'
  readonly l1: L1Heads
  /** the L1 block that derivation read last */
  readonly origin: L1Ref | undefined
  readonly heads: Heads | undefined
  /** who says what is safe and finalized: derivation from L1, or the node that is followed */
  readonly labels: 'l1' | 'source'
  /** what keeps it from going on: the oldest wait but for that at the tip; undefined: nothing */
  readonly wait: Wait | undefined
  /** everything that is waited for, oldest first */
  readonly waits: readonly Wait[]
  /** resets since the process began */
  readonly resets: number
  /** why it stopped */
  readonly fault: Fault | undefined
}

/** The wait that matters most: the oldest but for the normal one at the tip. */
export function mainWait(waits: readonly Wait[]): Wait | undefined {
  return waits.find(({ reason }) => reason !== 'l1-head') ?? waits[0]
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
