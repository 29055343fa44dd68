import type { ForkId } from '#chainspec/forkId'
import type { Clock } from '#lib/clock'
import type { NodeAddress } from '../net/nodeId.ts'
import type { OwnRecord } from './ownRecord.ts'
import type { DiscoverySocket } from './socket.ts'

/** What both versions of discovery share. */
export type DiscoveryDeps = {
  readonly clock: Clock
  readonly socket: DiscoverySocket
  readonly own: OwnRecord
  readonly privateKey: Uint8Array
  readonly bootnodes: readonly NodeAddress[]
  /** Returns whether a node with this fork id may be on the same chain. */
  readonly isOfChain: (forkId: ForkId) => boolean
  /** Receives nodes of this chain that have answered at their address. */
  readonly onNode: (node: NodeAddress) => void
}
