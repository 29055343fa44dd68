import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Address } from '#types/ids'
import type { Payload } from '#types/payload'
import type { DenyKind, PeerFacts, PeerStats, PeersFacts } from '#types/peer'
import type { PeerEvents } from '../net/peerEvents.ts'
import type { BlockVersion } from '../protocol/topics.ts'

/** Settings of the p2p thread; they cross as a clone. */
export type P2pSettings = {
  readonly config: RollupConfig
  /** secp256k1 key of the node's identity, 32 bytes */
  readonly identity: Uint8Array
  /** name that peers see */
  readonly agent: string
  /** IP address to bind */
  readonly host: string
  /** TCP port of gossip and UDP port of discovery; 0: any free ports */
  readonly port: number
  /** address that peers dial; absent: learned from peers */
  readonly advertise?: { readonly host?: string; readonly tcpPort?: number; readonly udpPort?: number }
  readonly hasDiscovery: boolean
  /** ENRs and enode URLs */
  readonly bootnodes: readonly string[]
  /** multiaddrs with a peer id, ENRs or enode URLs of peers to keep connected */
  readonly staticPeers: readonly string[]
  /** as static peers; also exempt from limits and bans */
  readonly trustedPeers: readonly string[]
  readonly maxPeers: number
  readonly bans: { readonly isOn: boolean; readonly belowScore: number; readonly durationMs: number }
  /** file of the known peers; absent: they are forgotten */
  readonly peersFile?: string
  readonly signer: Address | undefined
  /** entries that an operator has denied; absent: none */
  readonly denied?: Readonly<Partial<Record<DenyKind, readonly string[]>>>
}

/** A block message that is signed and not compressed. */
export type SignedBlock = { readonly version: BlockVersion; readonly message: Uint8Array }

/** Calls that the p2p thread answers. */
export type OfP2pThread = {
  setSigner(signer: Address): void
  publish(block: SignedBlock): Promise<number>
  /** Fetches blocks by number, in any order; undefined where no peer has one. Not verified against each other. */
  fetch(numbers: readonly number[]): Promise<readonly (Payload | undefined)[]>
  /** Lowers the score of the peers that returned a block which does not belong to the chain. */
  blame(number: number): void
  self(): PeerFacts
  peers(connectedOnly: boolean): Promise<PeersFacts>
  peerStats(): PeerStats
  discoveryTable(): readonly string[]
  /** Denies, or ends it. @returns the entries of the kind */
  deny(kind: DenyKind, what: string, isDenied: boolean): Promise<readonly string[]>
  denied(kind: DenyKind): readonly string[]
  connect(address: string): Promise<void>
  disconnect(peerId: string): Promise<void>
  protect(peerId: string, isProtected: boolean): Promise<void>
  close(): Promise<void>
}

/** Calls that the main thread answers. */
export type OfMainThread = {
  /** A block that passed validation. @param latencyMs from its due time to its arrival */
  block(payload: Payload, latencyMs: number): void
  /** Returns the canonical block at a number, to serve it. */
  canonical(number: number): Promise<Payload | undefined>
  events(events: PeerEvents): void
}

/** Listening addresses of a started thread. */
export type P2pListening = { readonly peerId: string; readonly enr: string; readonly tcpPort: number; readonly udpPort: number | undefined }
