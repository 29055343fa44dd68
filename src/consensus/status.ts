import { numberAt } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import type { Fault } from '#lib/fault'
import type { L1Ref } from '#types/blockRef'
import type { L1Heads } from './l1Watch.ts'
import type { Wait } from './waits.ts'

/** Frozen snapshot of the consensus half. */
export type DriverStatus = {
  readonly phase: 'starting' | 'deriving' | 'stopped'
  readonly l1: L1Heads
  /** the L1 block that derivation read last */
  readonly origin: L1Ref | undefined
  readonly heads: Heads | undefined
  /** source of the safe and finalized labels: derivation from L1, or the followed node */
  readonly labels: 'l1' | 'source'
  /** the oldest wait except the normal one at the tip; undefined: none */
  readonly wait: Wait | undefined
  /** all waits, oldest first */
  readonly waits: readonly Wait[]
  /** resets since the process started */
  readonly resets: number
  /** fault that stopped it */
  readonly fault: Fault | undefined
}

/** Returns the most important wait: the oldest except the normal one at the tip. */
export function mainWait(waits: readonly Wait[]): Wait | undefined {
  return waits.find(({ reason }) => reason !== 'l1-head') ?? waits[0]
}

/** Values of a progress line. Targets are undefined until they are known; `l2Target` is the last block whose time is not after the L1 head. */
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
