import type { Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Payload } from '#types/payload'
import { denyKinds } from '#types/peer'
import { p2pFault } from '../faults.ts'
import { payloadProtocols } from '../protocol/payloadRequest.ts'
import type { P2pListening, P2pSettings, SignedBlock } from '../thread/protocol.ts'
import { DenyList } from './denyList.ts'
import { Dialer } from './dialer.ts'
import { createRecord, Discovery } from './discovery.ts'
import { BlockGossip, type Router } from './gossip.ts'
import { boundPort, createHost, type Host, setProtected } from './host.ts'
import { Identities } from './identities.ts'
import { PayloadClient } from './payloadClient.ts'
import { PayloadServer } from './payloadServer.ts'
import { type PeerAddress, parsePeer } from './peerAddress.ts'
import { PeerBook } from './peerBook.ts'
import { agentNameOf, PeerCounts, type PeerEvents } from './peerEvents.ts'
import { PortWatch, type PortWatchDeps } from './portWatch.ts'

export type P2pNodeDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly onBlock: (payload: Payload, latencyMs: number) => void
  readonly canonical: (number: number) => Promise<Payload | undefined>
  readonly onEvents: (events: PeerEvents) => void
}

const [reportMs, banCheckMs, saveMs, portCheckMs] = [1_000, 15_000, 60_000, 30_000]

/** Peers of one kind in the settings. @throws Fault P2P_PEER (fatal) */
function parsePeers(flag: string, peers: readonly string[]): readonly PeerAddress[] {
  return peers.map((peer) => {
    try {
      return parsePeer(peer)
    } catch (error) {
      throw p2pFault('P2P_PEER', { flag, peer: peer.slice(0, 120), reason: errorMessage(error) })
    }
  })
}

/** The consensus network, as the p2p thread runs it. */
export class P2pNode {
  readonly settings: P2pSettings
  readonly gossip: BlockGossip
  readonly client: PayloadClient
  readonly denied: DenyList
  readonly book: PeerBook
  readonly host: Host
  readonly discovery: Discovery | undefined
  readonly identities: Identities
  readonly #deps: P2pNodeDeps
  readonly #counts: PeerCounts
  readonly #dialer: Dialer
  readonly #trusted: ReadonlySet<string>
  readonly #ports: PortWatch
  readonly #timers: Disposable[] = []
  readonly #tcpPort: number

  private constructor(deps: P2pNodeDeps, settings: P2pSettings, parts: Parts) {
    this.settings = settings
    this.#deps = deps
    this.gossip = parts.gossip
    this.client = parts.client
    this.denied = parts.denied
    this.book = parts.book
    this.host = parts.host
    this.discovery = parts.discovery
    this.identities = parts.identities
    this.#counts = parts.counts
    this.#tcpPort = parts.tcpPort
    this.#trusted = new Set(parts.trusted.map(({ peerId }) => peerId))
    const { clock, log } = deps
    this.#dialer = new Dialer(
      {
        ...{ clock, log },
        isConnected: (peer): boolean => this.isConnected(peer),
        isDenied: (peer): boolean => this.denied.deniesPeer(peer),
        connections: (): number => this.host.getConnections().length,
        dial: async ({ peerId, address }, signal): Promise<void> => {
          await this.host.dial(address, { signal })
          this.book.connected(peerId)
        },
        candidates: (): readonly PeerAddress[] => this.#candidates(),
      },
      { kept: parts.kept, maxPeers: settings.maxPeers, ownId: this.host.peerId.toString() },
    )
    this.#ports = new PortWatch({
      ...{ clock, log, port: parts.tcpPort, isPublic: !isLoopback(settings.host) },
      facts: (): ReturnType<PortWatchDeps['facts']> => ({
        searches: this.discovery !== undefined && (settings.bootnodes.length > 0 || this.book.size > 0),
        hasAnswer: this.discovery?.hasAnswer ?? false,
        failedDials: this.#dialer.failedDials,
      }),
    })
  }

  /**
   * Binds the sockets and joins the network.
   * @throws Fault P2P_PORT, P2P_PEER (fatal)
   */
  static async start(deps: P2pNodeDeps, settings: P2pSettings): Promise<P2pNode> {
    const { clock, log } = deps
    const trusted = parsePeers('--p2p.trusted', settings.trustedPeers)
    const enodes = settings.bootnodes.filter((peer) => !peer.startsWith('enr:'))
    const kept = [...trusted, ...parsePeers('--p2p.static', settings.staticPeers)]
    const counts = new PeerCounts()
    const denied = new DenyList(clock)
    for (const kind of denyKinds) for (const what of settings.denied?.[kind] ?? []) denied.set(kind, what, true)
    const book = new PeerBook({ clock, log }, settings.peersFile)
    for (const { peerId, address, enr } of parsePeers('--p2p.bootnodes', enodes)) book.found(peerId, address.toString(), enr)
    const { config } = settings
    const identities = new Identities(payloadProtocols(config.l2ChainId))
    let host: Host | undefined
    const client: PayloadClient = new PayloadClient(
      {
        counts,
        peers: () => host?.getPeers().filter((peer) => identities.serves(peer.toString())) ?? [],
        open: (peer, protocols, signal): Promise<Stream> => {
          if (host === undefined) throw new Error('not started')
          return host.dialProtocol(peer, protocols, { signal })
        },
      },
      config,
    )
    const gossip = new BlockGossip(
      { clock, counts, reputation: (peer): number => client.reputation(peer), onBlock: deps.onBlock },
      config,
      settings.signer,
    )
    host = await createHost(settings, gossip, denied, (peer) => trusted.some(({ peerId }) => peerId === peer))
    const server = new PayloadServer({ clock, counts, canonical: deps.canonical }, config)
    await host.handle([...payloadProtocols(config.l2ChainId)], (stream, connection): Promise<void> => server.handle(stream, connection), {
      maxInboundStreams: 16,
      maxOutboundStreams: 16,
    })
    const bound = await bind(host, settings, { clock, log, book })
    gossip.start(host.services.pubsub as Router)
    const node = new P2pNode(deps, settings, { ...{ gossip, client, denied, book, host, counts, trusted, kept, identities }, ...bound })
    await node.#run()
    return node
  }

  get listening(): P2pListening {
    return {
      peerId: this.host.peerId.toString(),
      enr: this.enr,
      tcpPort: this.#tcpPort,
      udpPort: this.discovery ? this.#tcpPort : undefined,
    }
  }

  get enr(): string {
    return this.discovery?.enr ?? recordOf(this.settings, this.#tcpPort)
  }

  isConnected(peer: string): boolean {
    return this.host.getConnections(peerIdFromString(peer)).some(({ status }) => status === 'open')
  }

  isTrusted(peer: string): boolean {
    return this.#trusted.has(peer)
  }

  async publish(block: SignedBlock): Promise<number> {
    return await this.gossip.publish(block)
  }

  /** Closes connections to peers that the deny list forbids now. */
  async closeDenied(): Promise<void> {
    for (const connection of this.host.getConnections()) {
      const { remotePeer, remoteAddr } = connection
      const [address] = remoteAddr.getComponents()
      if (this.denied.deniesPeer(remotePeer.toString()) || this.denied.deniesAddress(address?.value))
        await connection.close().catch(() => {})
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) timer[Symbol.dispose]()
    this.#dialer.stop()
    this.#report()
    this.book.save()
    await this.discovery?.stop()
    await this.host.stop()
  }

  async #run(): Promise<void> {
    for (const peer of this.#trusted) await setProtected(this.host, peerIdFromString(peer), true)
    const { log } = this.#deps
    this.host.addEventListener('connection:open', ({ detail }) => this.#ports.connected(detail.direction))
    this.host.addEventListener('peer:connect', ({ detail }) => {
      this.book.connected(detail.toString())
      log.debug('peer connected', { peer: detail.toString(), peers: this.host.getPeers().length })
    })
    this.host.addEventListener('peer:identify', ({ detail }) => {
      const { peerId, agentVersion, protocolVersion, protocols } = detail
      this.identities.add(peerId.toString(), { agent: agentVersion ?? '', protocolVersion: protocolVersion ?? '', protocols })
    })
    this.host.addEventListener('peer:disconnect', ({ detail }) => {
      this.identities.remove(detail.toString())
      log.debug('peer disconnected', { peer: detail.toString(), peers: this.host.getPeers().length })
    })
    for (const { enr } of this.book.all()) if (enr !== undefined) this.discovery?.add(enr)
    this.#every(reportMs, () => this.#report())
    this.#every(banCheckMs, () => this.#banOffenders())
    this.#every(saveMs, () => this.book.save())
    this.#every(portCheckMs, () => this.#ports.check())
    void this.#dialer.run()
  }

  #every(ms: number, run: () => void): void {
    const { clock } = this.#deps
    const index = this.#timers.length
    const again = (): void => {
      this.#timers[index] = clock.after(ms, () => {
        run()
        again()
      })
    }
    again()
  }

  #candidates(): readonly PeerAddress[] {
    const found: PeerAddress[] = []
    for (const { address } of this.book.all()) {
      try {
        found.push(parsePeer(address))
      } catch {
        // an address of the file that this version does not read
      }
    }
    return found
  }

  #banOffenders(): void {
    const { isOn, belowScore, durationMs } = this.settings.bans
    if (!isOn) return
    for (const peer of this.host.getPeers()) {
      const id = peer.toString()
      const score = this.gossip.score(id)
      if (score >= belowScore || this.isTrusted(id)) continue
      this.denied.ban(id, durationMs)
      this.#counts.banned()
      this.#deps.log.info('peer banned', { peer: id, score: Math.round(score), minutes: Math.round(durationMs / 60_000) })
    }
    void this.closeDenied()
  }

  #report(): void {
    const groups = new Map<string, { direction: 'inbound' | 'outbound'; agent: ReturnType<typeof agentNameOf>; count: number }>()
    for (const { remotePeer, direction } of this.host.getConnections()) {
      const agent = agentNameOf(this.identities.get(remotePeer.toString())?.agent)
      const key = `${direction} ${agent}`
      groups.set(key, { direction, agent, count: (groups.get(key)?.count ?? 0) + 1 })
    }
    const { user, system } = process.threadCpuUsage()
    this.#deps.onEvents({
      ...this.#counts.take(),
      peers: [...groups.values()],
      meshPeers: this.gossip.meshPeers(),
      tablePeers: this.discovery?.size ?? 0,
      cpuSec: (user + system) / 1_000_000,
    })
  }
}

type Parts = {
  readonly gossip: BlockGossip
  readonly client: PayloadClient
  readonly denied: DenyList
  readonly book: PeerBook
  readonly host: Host
  readonly discovery: Discovery | undefined
  readonly counts: PeerCounts
  readonly identities: Identities
  readonly trusted: readonly PeerAddress[]
  readonly kept: readonly PeerAddress[]
  readonly tcpPort: number
}

const isLoopback = (host: string): boolean => host.startsWith('127.') || host === '::1'

function advertisedOf(
  { advertise, host, port }: P2pSettings,
  tcpPort: number,
): { host?: string | undefined; tcpPort: number; udpPort: number } {
  // a loopback address is what peers of this machine dial; nobody else can
  const own = advertise?.host ?? (isLoopback(host) ? host : undefined)
  const isFree = port === 0
  return { host: own, tcpPort: (!isFree && advertise?.tcpPort) || tcpPort, udpPort: (!isFree && advertise?.udpPort) || tcpPort }
}

function recordOf(settings: P2pSettings, tcpPort: number): string {
  const { config, identity } = settings
  return createRecord({ chainId: config.l2ChainId, identity, advertised: advertisedOf(settings, tcpPort) }).encodeTxt()
}

/** Starts the listeners: TCP first, then UDP on the same number. @throws Fault P2P_PORT (fatal) */
async function bind(
  host: Host,
  settings: P2pSettings,
  { clock, log, book }: { readonly clock: Clock; readonly log: Log; readonly book: PeerBook },
): Promise<{ readonly discovery: Discovery | undefined; readonly tcpPort: number }> {
  const { config, identity } = settings
  try {
    await host.start()
    const tcpPort = settings.port === 0 ? (boundPort(host) ?? 0) : settings.port
    if (!settings.hasDiscovery) return { discovery: undefined, tcpPort }
    const discovery = new Discovery(
      { clock, log, onPeer: ({ peerId, address, enr }): void => book.found(peerId, address.toString(), enr) },
      {
        chainId: config.l2ChainId,
        identity,
        host: settings.host,
        port: tcpPort,
        advertised: advertisedOf(settings, tcpPort),
        bootnodes: settings.bootnodes,
      },
    )
    await discovery.start()
    return { discovery, tcpPort }
  } catch (error) {
    await host.stop()
    throw p2pFault('P2P_PORT', { host: settings.host, port: settings.port, reason: errorMessage(error) }, error)
  }
}
