import type { Fault } from '#lib/fault'
import type { BlockId } from '#types/blockRef'

/**
 * L1 of a devnet: an Ethereum chain on loopback that mines on request. Block n has the time `genesisTimeSec + n × slotSec`, so the slot of a block is
 * its number. The devnet's portal and system config are at their addresses (`l1Contracts.ts`) from genesis on, and its accounts have 10,000 ETH each.
 * `safe` is 2 blocks behind the head, `finalized` 4.
 */
export interface DevnetL1 extends AsyncDisposable {
  readonly kind: 'anvil' | 'memory'
  readonly chainId: number
  /** JSON-RPC, for the nodes, the batcher and the user's tools */
  readonly rpcUrl: string
  /** beacon API: genesis and blobs */
  readonly beaconUrl: string
  readonly genesis: BlockId
  readonly genesisTimeSec: number
  readonly slotSec: number
  /** Resolves when the L1 has ended unexpectedly (DEVNET_L1_ENDED); never for an L1 in memory. */
  readonly ended: Promise<Fault>
  head(): Promise<BlockId & { readonly timestamp: number }>
  /** Mines the next block with the pool's transactions. */
  mine(): Promise<void>
  /**
   * Replaces the last blocks by the same number of blocks without transactions. The removed transactions are lost unless they are sent again.
   * @throws Fault DEVNET_L1_DEPTH (fatal) when fewer blocks can be replaced
   */
  reorg(depth: number): Promise<void>
}

/** Account that the devnet lists. */
export type DevnetAccount = { readonly address: `0x${string}`; readonly privateKey: `0x${string}` }

/** Faults that can be injected into a devnet. Each ends by itself, and the chain recovers. */
export interface DevnetFaults {
  /** Pauses new L2 blocks for a while; the missed blocks follow at once. */
  pauseSequencer(seconds: number): Promise<void>
  /** Stops posting for a while. */
  stopBatcher(seconds: number): Promise<void>
  /** Changes a byte in the next channel. */
  corruptBatch(): Promise<void>
  /** Replaces the last L1 blocks. */
  reorgL1(depth: number): Promise<void>
  /** Makes L1 unreachable for the nodes for a while. */
  dropL1(seconds: number): Promise<void>
}
