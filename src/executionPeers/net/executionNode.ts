import { type ForkId, forkActivations, forkIdAt, judgeForkId } from '#chainspec/forkId'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { publicKeyOf } from '#lib/secp256k1'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { type Bootnodes, baseProtocol, Discovery } from '../discovery/discovery.ts'
import { type EthVersion, ethVersions, type Status } from '../eth/messages.ts'
import { executionPeersFault } from '../faults.ts'
import { type Hello, snappyVersion } from '../rlpx/baseMessages.ts'
import type {
  ChainFacts,
  ExecutionPeersListening,
  ExecutionPeersReport,
  ExecutionPeersSettings,
  OfMain,
  OpenedGap,
} from '../thread/protocol.ts'
import { ChainServer } from './chainServer.ts'
import type { LocalChain } from './ethPeer.ts'
import { type FetchedOutcome, fetchedOutcomes, Gap, type GapFailure } from './gap.ts'
import { readKnownNodes, writeKnownNodes } from './knownNodes.ts'
import { enodeOf, idOfKey, type NodeAddress, parseNode } from './nodeId.ts'
import { PeerSet } from './peerSet.ts'

export type ExecutionNodeDeps = { readonly clock: Clock; readonly log: Log; readonly main: OfMain }

const reportMs = 1_000
/** Pause between a change of the peers and its report; peers that come and go at once are one report. */
const changeMs = 50
/** Blocks between two announcements of the served range. @see EIP-7642 */
const announceBlocks = 32
const maxGaps = 2
/** Interval between two writes of the known nodes. */
const saveMs = 60_000
/** Time without a call after which a gap is closed; longer than the time for its headers. */
const gapIdleMs = 120_000

/** `gap`: absent while its headers are fetched. */
type KeptGap = { gap?: Gap; readonly stop: AbortController; usedMs: number }

const zeros = <K extends string>(names: readonly K[]): Record<K, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>

/** The execution network inside its thread: peers, discovery, the server of blocks, and gaps that are filled from peers. */
export class ExecutionNode {
  readonly #deps: ExecutionNodeDeps
  readonly #settings: ExecutionPeersSettings
  readonly peers: PeerSet
  readonly #server: ChainServer
  #discovery: Discovery | undefined
  #chain: ChainFacts
  #announced: number
  readonly #gaps = new Map<number, KeptGap>()
  #savedMs: number
  #timer: Disposable | undefined
  /** report of peers that have changed */
  #change: Disposable | undefined
  #fetched = zeros(fetchedOutcomes)
  #reported = { received: 0, sent: 0 }
  readonly #ended = { received: 0, sent: 0 }

  private constructor(deps: ExecutionNodeDeps, settings: ExecutionPeersSettings) {
    const { clock, log, main } = deps
    this.#deps = deps
    this.#settings = settings
    this.#chain = settings.chain
    this.#announced = settings.chain.range.latest
    this.#savedMs = clock.elapsedMs()
    this.#server = new ChainServer(clock, main)
    const id = publicKeyOf(settings.identity)
    this.peers = new PeerSet(
      {
        ...{ clock, log, chain: this.#localChain() },
        onRequest: (peer, message, body): void => this.#server.onRequest(peer, message, body),
        onPeers: (): void => {
          this.#change ??= clock.after(changeMs, () => this.#report())
        },
        onEnded: ({ received, sent }): void => {
          this.#ended.received += received
          this.#ended.sent += sent
        },
      },
      {
        ...{ privateKey: settings.identity, id: idOfKey(id), host: settings.host, port: settings.port, maxPeers: settings.maxPeers },
        hello: (port): Hello => ({
          version: snappyVersion,
          client: settings.agent,
          capabilities: ethVersions.map((version) => ({ name: 'eth', version })),
          port,
          id,
        }),
      },
    )
  }

  /** @throws Fault EXECUTION_P2P_PORT, EXECUTION_P2P_PEER (fatal) */
  static async start(deps: ExecutionNodeDeps, settings: ExecutionPeersSettings): Promise<ExecutionNode> {
    const { v4, v5 } = settings.bootnodes
    const bootnodes = { v4: nodesOf('--p2p.execution.bootnodes', v4), v5: nodesOf('--p2p.execution.bootnodes', v5) }
    const kept = nodesOf('--p2p.execution.static', settings.staticPeers)
    const trusted = nodesOf('--p2p.execution.trusted', settings.trustedPeers)
    const node = new ExecutionNode(deps, settings)
    await node.#listen(bootnodes)
    for (const { id } of trusted) node.peers.trust(id, true)
    for (const one of [...kept, ...trusted]) node.peers.keep(one)
    if (settings.knownNodesFile !== undefined)
      for (const one of readKnownNodes(settings.knownNodesFile, deps.log)) node.peers.candidates.found(one)
    node.#plan()
    return node
  }

  get listening(): ExecutionPeersListening {
    const { id, host } = { id: idOfKey(publicKeyOf(this.#settings.identity)), host: this.ownHost }
    const udpPort = this.#discovery?.port
    return {
      enode: enodeOf({ id, host, tcpPort: this.peers.port, udpPort: udpPort ?? this.peers.port }),
      tcpPort: this.peers.port,
      udpPort,
    }
  }

  /** Address of this node as far as it is known. */
  get ownHost(): string {
    const { advertisedHost, host } = this.#settings
    return advertisedHost ?? this.#discovery?.ownHost ?? host
  }

  get settings(): ExecutionPeersSettings {
    return this.#settings
  }

  get enr(): string {
    return this.#discovery?.record.text ?? ''
  }

  setChain(chain: ChainFacts): void {
    this.#chain = chain
    if (Math.abs(chain.range.latest - this.#announced) < announceBlocks) return
    this.#announced = chain.range.latest
    for (const peer of this.peers.ready()) peer.announce(chain.range)
  }

  /**
   * Fetches the headers of a gap.
   * @param id name of the gap, by which it can be closed while its headers are fetched
   * @throws Error when too many gaps are open, and when the gap is closed
   */
  async openGap(id: number, top: BlockId, floor: number, lowest: number): Promise<OpenedGap | { readonly kind: GapFailure }> {
    if (this.#gaps.size >= maxGaps) throw new Error(`${maxGaps} gaps are being filled`)
    const { clock, log, main } = this.#deps
    const stop = new AbortController()
    const kept: KeptGap = { stop, usedMs: clock.elapsedMs() }
    this.#gaps.set(id, kept)
    try {
      const gap = await Gap.open(
        {
          ...{ clock, log, isCanonical: (block: BlockId) => main.isCanonical(block) },
          peers: () => this.peers.ready(),
          ban: (peer, why) => this.peers.ban(peer, why),
          onFetched: (outcome: FetchedOutcome): void => void this.#fetched[outcome]++,
        },
        ...([top, floor, lowest, stop.signal] as const),
      )
      stop.signal.throwIfAborted()
      if (!(gap instanceof Gap)) return { kind: gap }
      kept.gap = gap
      kept.usedMs = clock.elapsedMs()
      return { kind: 'opened', blocks: gap.blocks }
    } finally {
      if (kept.gap === undefined && this.#gaps.get(id) === kept) this.#gaps.delete(id)
    }
  }

  /** Returns the next blocks of a gap. @throws Error when it is closed */
  async nextBlocks(id: number): Promise<readonly Payload[] | 'unavailable'> {
    const kept = this.#gaps.get(id)
    if (kept?.gap === undefined) throw new Error('the gap is not open')
    kept.usedMs = this.#deps.clock.elapsedMs()
    return await kept.gap.next(kept.stop.signal)
  }

  closeGap(id: number): void {
    const kept = this.#gaps.get(id)
    this.#gaps.delete(id)
    kept?.stop.abort(new Error('the gap is closed'))
    kept?.gap?.close()
  }

  async close(): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    this.#change?.[Symbol.dispose]()
    for (const id of this.#gaps.keys()) this.closeGap(id)
    this.#saveKnownNodes()
    await this.#discovery?.stop()
    await this.peers.stop()
  }

  async #listen(bootnodes: Bootnodes<NodeAddress>): Promise<void> {
    const { host, port, hasDiscovery, identity, advertisedHost } = this.#settings
    try {
      const tcpPort = await this.peers.start()
      if (!hasDiscovery) return
      this.#discovery = await Discovery.start(
        {
          ...{ clock: this.#deps.clock, log: this.#deps.log },
          forkId: (): ForkId => forkIdAt(this.#settings.config, this.#chain.timestampSec),
          isOfChain: (forkId): boolean => this.#judge(forkId) === 'compatible',
          onNode: (node): void => this.peers.candidates.found(node),
        },
        { privateKey: identity, host, port: port === 0 ? 0 : tcpPort, tcpPort, advertisedHost, bootnodes, protocol: baseProtocol },
      )
    } catch (error) {
      await this.peers.stop()
      throw executionPeersFault('EXECUTION_P2P_PORT', { host, port, reason: errorMessage(error) }, error)
    }
  }

  #judge(forkId: Status['forkId']): ReturnType<typeof judgeForkId> {
    const { config } = this.#settings
    return judgeForkId(config.genesis.l2.hash, forkActivations(config), this.#chain.timestampSec, forkId)
  }

  #localChain(): LocalChain {
    const { config } = this.#settings
    return {
      status: (version: EthVersion): Status => ({
        ...{ version, networkId: config.l2ChainId, genesis: config.genesis.l2.hash },
        forkId: forkIdAt(config, this.#chain.timestampSec),
        latestHash: this.#chain.range.latestHash,
        ...(version === 69 && { range: this.#chain.range }),
      }),
      refusal: ({ networkId, genesis, forkId }): string | undefined => {
        if (networkId !== config.l2ChainId) return `network ${networkId}, not ${config.l2ChainId}`
        if (genesis !== config.genesis.l2.hash) return `genesis ${genesis}, not ${config.genesis.l2.hash}`
        const verdict = this.#judge(forkId)
        if (verdict === 'remote_stale') return `fork id ${forkId.hash}, next ${forkId.next}: the peer does not know a fork`
        return verdict === 'local_stale' ? `fork id ${forkId.hash}: this node does not know a fork of the peer` : undefined
      },
    }
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(reportMs, () => {
      this.#closeIdleGaps()
      this.#report()
      if (this.#deps.clock.elapsedMs() - this.#savedMs >= saveMs) this.#saveKnownNodes()
      this.#plan()
    })
  }

  #saveKnownNodes(): void {
    this.#savedMs = this.#deps.clock.elapsedMs()
    const { knownNodesFile } = this.#settings
    if (knownNodesFile !== undefined) writeKnownNodes(knownNodesFile, this.peers.candidates.known(), this.#deps.log)
  }

  #closeIdleGaps(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    for (const [id, { usedMs }] of this.#gaps) if (nowMs - usedMs > gapIdleMs) this.closeGap(id)
  }

  #report(): void {
    this.#change?.[Symbol.dispose]()
    this.#change = undefined
    const ready = this.peers.ready()
    const groups = (['inbound', 'outbound'] as const).flatMap((direction) =>
      ethVersions.map((version) => ({
        ...{ direction, version },
        count: ready.filter((peer) => peer.direction === direction && peer.version === version).length,
      })),
    )
    const received = this.#ended.received + ready.reduce((sum, { bytes }) => sum + bytes.received, 0)
    const sent = this.#ended.sent + ready.reduce((sum, { bytes }) => sum + bytes.sent, 0)
    const { user, system } = process.threadCpuUsage()
    const report: ExecutionPeersReport = {
      peers: groups,
      tableNodes: this.#discovery?.sizes ?? { v4: 0, v5: 0 },
      served: this.#server.taken(),
      fetched: this.#fetched,
      receivedBytes: Math.max(0, received - this.#reported.received),
      sentBytes: Math.max(0, sent - this.#reported.sent),
      ended: this.peers.takeEnded(),
      cpuSec: (user + system) / 1_000_000,
    }
    this.#reported = { received: Math.max(received, this.#reported.received), sent: Math.max(sent, this.#reported.sent) }
    this.#fetched = zeros(fetchedOutcomes)
    this.#deps.main.report(report)
  }
}

function nodesOf(flag: string, texts: readonly string[]): readonly NodeAddress[] {
  return texts.map((text) => {
    try {
      return parseNode(text)
    } catch (error) {
      throw executionPeersFault('EXECUTION_P2P_PEER', { flag, peer: text.slice(0, 160), reason: errorMessage(error) }, error)
    }
  })
}
