import type { Fault } from '#lib/fault'
import type { BlockId } from '#types/blockRef'

/**
 * The L1 of a devnet: an Ethereum chain on loopback that mines when it is told to, the block with number n at `genesisTimeSec + n × slotSec`, so
 * that the slot of a block is its number. Our portal and system config are at their addresses (`l1Contracts.ts`) from genesis on, and the devnet's
 * accounts have 10,000 ETH each. `safe` is 2 blocks behind the head, `finalized` 4.
 */
export interface DevnetL1 extends AsyncDisposable {
  readonly kind: 'anvil' | 'memory'
  readonly chainId: number
  /** JSON-RPC, for the nodes, the batcher and people's own tools */
  readonly rpcUrl: string
  /** beacon API: genesis and blobs */
  readonly beaconUrl: string
  readonly genesis: BlockId
  readonly genesisTimeSec: number
  readonly slotSec: number
  /** Resolves when the L1 has ended though nobody asked for it (DEVNET_L1_ENDED); in memory it never does. */
  readonly ended: Promise<Fault>
  head(): Promise<BlockId & { readonly timestamp: number }>
  /** The next block, with what waits in its pool. */
  mine(): Promise<void>
  /**
   * Replaces the last blocks by as many others without transactions; those that were in them are gone unless they are sent again.
   * @throws Fault DEVNET_L1_DEPTH (fatal) when there are not as many to replace
   */
  reorg(depth: number): Promise<void>
}

/** An account that the devnet tells of. */
export type DevnetAccount = { readonly address: `0x${string}`; readonly privateKey: `0x${string}` }

/** What happens to a devnet because somebody asks for it. Each ends by itself or by its counterpart, and the chain heals. */
export interface DevnetFaults {
  /** No new L2 blocks for a while; then it catches up. */
  pauseSequencer(seconds: number): Promise<void>
  /** Nothing is posted for a while. */
  stopBatcher(seconds: number): Promise<void>
  /** The next channel goes out with a wrong byte. */
  corruptBatch(): Promise<void>
  /** Replaces the last L1 blocks. */
  reorgL1(depth: number): Promise<void>
  /** The nodes cannot reach L1 for a while. */
  dropL1(seconds: number): Promise<void>
}
