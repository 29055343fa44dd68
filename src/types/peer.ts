/** A peer of the consensus network, or this node itself. */
export type PeerFacts = {
  readonly peerId: string
  /** discv5 node id, hex without prefix; empty: not known */
  readonly nodeId: string
  readonly agent: string
  readonly protocolVersion: string
  readonly enr: string
  readonly addresses: readonly string[]
  readonly protocols: readonly string[]
  readonly isConnected: boolean
  readonly direction: 'inbound' | 'outbound' | 'unknown'
  readonly isProtected: boolean
  readonly latencyMs: number
  readonly gossipBlocks: boolean
  readonly score: number
}

export type PeersFacts = {
  readonly peers: readonly PeerFacts[]
  readonly bannedPeers: readonly string[]
  readonly bannedAddresses: readonly string[]
  readonly bannedSubnets: readonly string[]
}

/** Counts of peers. `topics`: subscribed peers by layout of blocks, oldest first; `table`: nodes in discovery's routing table. */
export type PeerStats = {
  readonly connected: number
  readonly table: number
  readonly topics: readonly number[]
  readonly banned: number
  readonly known: number
}

/** Kinds of entries in a deny list. */
export const denyKinds = ['peer', 'address', 'subnet'] as const
export type DenyKind = (typeof denyKinds)[number]

/** Calls of an operator on the consensus network. Errors of input are RangeError or SyntaxError. */
export interface PeerNetwork {
  self(): Promise<PeerFacts>
  peers(connectedOnly: boolean): Promise<PeersFacts>
  peerStats(): Promise<PeerStats>
  /** Returns the ENRs of the routing table. */
  discoveryTable(): Promise<readonly string[]>
  deny(kind: DenyKind, what: string, isDenied: boolean): Promise<void>
  denied(kind: DenyKind): Promise<readonly string[]>
  /** @param address multiaddr with a peer id, ENR or enode URL */
  connect(address: string): Promise<void>
  disconnect(peerId: string): Promise<void>
  /** Exempts a peer from the closing of connections for lack of room. */
  protect(peerId: string, isProtected: boolean): Promise<void>
}
