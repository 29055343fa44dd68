import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockId } from '#types/blockRef'
import type { ExecutionPeerFacts, ExecutionPeersSelf } from '#types/executionPeer'
import type { Payload } from '#types/payload'
import type { Bootnodes, DiscoveryVersion } from '../discovery/discovery.ts'
import type { BlockRange } from '../eth/messages.ts'
import type { ChainReads, ServedOutcome } from '../net/chainServer.ts'
import type { FetchedOutcome, GapFailure } from '../net/gap.ts'

/** Newest block of this node, with the blocks that it serves. */
export type ChainFacts = { readonly range: BlockRange; readonly timestampSec: number }

/** Settings of the thread; they cross as a clone. */
export type ExecutionPeersSettings = {
  readonly config: Pick<RollupConfig, 'l2ChainId' | 'schedule' | 'genesis'>
  /** secp256k1 key of the node's identity, 32 bytes */
  readonly identity: Uint8Array
  /** name that peers see */
  readonly agent: string
  /** IP address to bind */
  readonly host: string
  /** TCP port of RLPx and UDP port of discovery; 0: any free ports */
  readonly port: number
  /** address that peers dial; absent: learned from peers */
  readonly advertisedHost?: string | undefined
  readonly hasDiscovery: boolean
  /** enode URLs and ENRs, as those of the peers below */
  readonly bootnodes: Bootnodes<string>
  readonly staticPeers: readonly string[]
  /** as static peers; also exempt from the limit of connections and from bans */
  readonly trustedPeers: readonly string[]
  readonly maxPeers: number
  /** file with nodes that were peers; absent: they are forgotten */
  readonly knownNodesFile?: string | undefined
  readonly chain: ChainFacts
}

/** A gap whose headers are known. */
export type OpenedGap = { readonly kind: 'opened'; readonly blocks: number }

/** Counts since the last report, and states. */
export type ExecutionPeersReport = {
  readonly peers: readonly { readonly direction: 'inbound' | 'outbound'; readonly version: 68 | 69; readonly count: number }[]
  readonly tableNodes: Readonly<Record<DiscoveryVersion, number>>
  readonly served: Readonly<Record<ServedOutcome, number>>
  readonly fetched: Readonly<Record<FetchedOutcome, number>>
  readonly receivedBytes: number
  readonly sentBytes: number
  /** ended connections by their reason */
  readonly ended: Readonly<Record<string, number>>
  readonly cpuSec: number
}

/** Calls that the thread answers. */
export type OfExecutionPeersThread = {
  setChain(chain: ChainFacts): void
  /** As `Gap.open`. @param id name of the gap for the calls below, also while it is opened */
  openGap(id: number, top: BlockId, floor: number, lowest: number): Promise<OpenedGap | { readonly kind: GapFailure }>
  /** As `Gap.next`. */
  nextBlocks(id: number): Promise<readonly Payload[] | 'unavailable'>
  closeGap(id: number): void
  self(): ExecutionPeersSelf
  peers(): readonly ExecutionPeerFacts[]
  /** @throws SyntaxError when it is no node */
  keep(node: string, isTrusted: boolean): void
  /** @throws SyntaxError when it is no node */
  drop(node: string, from: 'peers' | 'trusted'): void
  close(): Promise<void>
}

/** Calls that the main thread answers. */
export type OfMain = ChainReads & {
  isCanonical(block: BlockId): Promise<boolean>
  report(report: ExecutionPeersReport): void
}

/** Where a started thread listens. */
export type ExecutionPeersListening = { readonly enode: string; readonly tcpPort: number; readonly udpPort: number | undefined }
