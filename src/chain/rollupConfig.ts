import type { BlockId } from '#types/blockRef'
import type { Address } from '#types/ids'
import type { ForkSchedule } from './forks.ts'
import type { SystemConfig } from './systemConfig.ts'

/** EIP-1559 parameters of the chain itself, where the system config says nothing. */
export type Eip1559Params = { readonly elasticity: number; readonly denominator: number; readonly denominatorCanyon: number }

/** What defines a rollup: op-node's rollup.json as values. */
export type RollupConfig = {
  readonly genesis: { readonly l1: BlockId; readonly l2: BlockId; readonly l2TimeSec: number; readonly systemConfig: SystemConfig }
  readonly blockTimeSec: number
  /** before Fjord; 1,800 s from Fjord on */
  readonly maxSequencerDriftSec: number
  /** L1 blocks */
  readonly sequencingWindowBlocks: number
  /** L1 blocks, before Granite */
  readonly channelTimeoutBlocks: number
  /** L1 blocks, from Granite on */
  readonly channelTimeoutGraniteBlocks: number
  readonly l1ChainId: number
  readonly l2ChainId: number
  readonly schedule: ForkSchedule
  /** until this L1 time Cancun's blob parameters price blobs although L1 runs Prague (Sepolia networks) */
  readonly pectraBlobScheduleTimeSec?: number
  readonly batchInbox: Address
  readonly depositContract: Address
  readonly l1SystemConfig: Address
  readonly protocolVersions?: Address
  readonly eip1559: Eip1559Params
}
