import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { addressGroup, hasInboundPlace, hasOutboundPlace, type OpenConnection } from '#lib/peers/inboundLimits'
import type { DisconnectReason, Hello } from '../rlpx/baseMessages.ts'
import type { Ended } from '../rlpx/rlpxConnection.ts'
import { Candidates } from './candidates.ts'
import { EthPeer, type LocalChain } from './ethPeer.ts'
import { keyOfId, type NodeAddress } from './nodeId.ts'

export type PeerSetDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly chain: LocalChain
  readonly onRequest: (peer: EthPeer, message: number, body: Uint8Array) => void
  readonly onPeers: () => void
  /** called with the bytes of a connection that has ended */
  readonly onEnded: (bytes: EthPeer['bytes']) => void
}

export type PeerSetOptions = {
  readonly privateKey: Uint8Array
  readonly id: string
  readonly host: string
  readonly port: number
  readonly maxPeers: number
  /** Hello of this node with the port that it listens on */
  readonly hello: (port: number) => Hello
}

/** Connections before their handshake is complete: of all peers, of one address. */
const maxPending = { inbound: 16, perAddress: 4, outbound: 8 }
const dialEveryMs = 2_000
const banMs = 3_600_000
const maxBans = 1_000

/** Peers of the execution network: listens, dials, keeps the limits. */
export class PeerSet {
  readonly #deps: PeerSetDeps
  readonly #options: PeerSetOptions
  readonly #server: Server
  /** all connections, those before their handshake included */
  readonly #open = new Set<EthPeer>()
  /** connected peers by id */
  readonly #peers = new Map<string, EthPeer>()
  readonly #dialling = new Map<string, EthPeer>()
  readonly #trusted = new Set<string>()
  /** end of the ban by id */
  readonly #bans = new Map<string, number>()
  readonly candidates: Candidates
  #timer: Disposable | undefined
  #isClosed = false
  #ended: Record<string, number> = {}

  constructor(deps: PeerSetDeps, options: PeerSetOptions) {
    this.#deps = deps
    this.#options = options
    this.candidates = new Candidates(deps.clock)
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
  }

  /** Binds the port and begins to dial. @throws Error of the socket */
  async start(): Promise<number> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, () => resolve())
    })
    this.#server.on('error', (error) => this.#deps.log.warn('listener for execution peers failed', { error }))
    this.#plan()
    return this.port
  }

  /** Port that is bound. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** Returns the connected peers whose Status is exchanged. */
  ready(): readonly EthPeer[] {
    return [...this.#peers.values()].filter(({ isReady }) => isReady)
  }

  /** Returns the ended connections by `us:` or `peer:` and the reason, since the last call. */
  takeEnded(): Readonly<Record<string, number>> {
    const ended = this.#ended
    this.#ended = {}
    return ended
  }

  isTrusted(id: string): boolean {
    return this.#trusted.has(id)
  }

  trust(id: string, isTrusted: boolean): void {
    if (isTrusted) this.#trusted.add(id)
    else this.#trusted.delete(id)
  }

  /** Keeps a node connected. */
  keep(node: NodeAddress): void {
    this.#bans.delete(node.id)
    this.candidates.name(node)
    this.#dialDue()
  }

  /** Ends the connection with a node and no longer keeps it connected; discovery may find it again. */
  remove(id: string): void {
    this.candidates.forget(id)
    this.#peers.get(id)?.disconnect('requested', 'an operator has removed the peer')
  }

  /** Ends the connection with a peer that sent wrong data, and refuses it for an hour; trusted peers are only disconnected. */
  ban(peer: EthPeer, why: string): void {
    const { id } = peer
    this.#deps.log.debug('execution peer sent wrong data', { id: id.slice(0, 16), host: peer.host, client: peer.client, why })
    if (!this.isTrusted(id)) {
      for (const [oldest] of this.#bans) {
        if (this.#bans.size < maxBans) break
        this.#bans.delete(oldest)
      }
      this.#bans.set(id, this.#deps.clock.elapsedMs() + banMs)
    }
    peer.disconnect('useless_peer', why)
  }

  async stop(): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const peer of this.#open) peer.disconnect('quitting', 'this node stops')
    await closed
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(dialEveryMs, () => {
      this.#dialDue()
      if (!this.#isClosed) this.#plan()
    })
  }

  #isBanned(id: string): boolean {
    const untilMs = this.#bans.get(id)
    if (untilMs !== undefined && untilMs <= this.#deps.clock.elapsedMs()) this.#bans.delete(id)
    return this.#bans.has(id)
  }

  #dialDue(): void {
    const { maxPeers, id: own } = this.#options
    const isSkipped = (id: string): boolean => id === own || this.#peers.has(id) || this.#dialling.has(id) || this.#isBanned(id)
    for (const node of this.candidates.due(isSkipped)) {
      if (this.#isClosed || this.#dialling.size >= maxPending.outbound) return
      if (node.kind === 'found' && this.#peers.size + this.#dialling.size >= maxPeers) return
      if (node.kind === 'found' && !hasOutboundPlace(this.#connections(), maxPeers, node.host)) continue
      this.#dial(node)
    }
  }

  #connections(): readonly OpenConnection[] {
    return [...this.#peers.values()].map(({ direction, host }) => ({ direction, ip: host }))
  }

  #dial(node: NodeAddress): void {
    const socket = connectSocket({ host: node.host, port: node.tcpPort })
    const peer = this.#create(socket, keyOfId(node.id), node.id)
    this.#dialling.set(node.id, peer)
  }

  #accept(socket: Socket): void {
    const ip = socket.remoteAddress
    const pending = [...this.#open].filter((peer) => peer.direction === 'inbound' && peer.hello === undefined)
    const group = addressGroup(ip ?? '')
    const isFull =
      pending.length >= maxPending.inbound || pending.filter(({ host }) => addressGroup(host) === group).length >= maxPending.perAddress
    if (isFull || this.#isClosed) return void socket.destroy()
    this.#create(socket)
  }

  #create(socket: Socket, remote?: Uint8Array, dialled?: string): EthPeer {
    const { privateKey, hello } = this.#options
    const { clock, chain, onRequest, onPeers } = this.#deps
    const peer: EthPeer = new EthPeer(
      { clock, chain },
      socket,
      { privateKey, hello: hello(this.port), ...(remote && { remote }) },
      {
        admit: (of) => this.#admit(of),
        onReady: (of): void => {
          this.candidates.ended(of.id, 'worked')
          onPeers()
        },
        onRequest,
        onEnd: (of, ended): void => this.#onEnd(of, dialled, ended),
      },
    )
    this.#open.add(peer)
    return peer
  }

  #admit(peer: EthPeer): { readonly reason: DisconnectReason; readonly why: string } | undefined {
    const { id, direction, host } = peer
    this.#dialling.delete(id)
    if (id === this.#options.id) return { reason: 'self', why: 'this node itself' }
    if (this.#isBanned(id)) return { reason: 'useless_peer', why: 'banned' }
    const earlier = this.#peers.get(id)
    if (earlier) {
      if (!this.#isBetter(peer, earlier)) return { reason: 'already_connected', why: 'connected already' }
      this.#peers.set(id, peer)
      earlier.disconnect('already_connected', 'both sides dialled')
      return undefined
    }
    const isExempt = this.isTrusted(id) || this.candidates.isNamed(id)
    const hasPlace = direction === 'inbound' ? hasInboundPlace : hasOutboundPlace
    if (!isExempt && !hasPlace(this.#connections(), this.#options.maxPeers, host))
      return { reason: 'too_many_peers', why: 'no place for another peer' }
    this.#peers.set(id, peer)
    return undefined
  }

  /** Two nodes that dial each other at once both keep the connection that the node with the greater id has opened. */
  #isBetter(peer: EthPeer, earlier: EthPeer): boolean {
    if (peer.direction === earlier.direction) return false
    return this.#options.id > peer.id === (peer.direction === 'outbound')
  }

  #onEnd(peer: EthPeer, dialled: string | undefined, { reason, by, why }: Ended): void {
    this.#open.delete(peer)
    const { id } = peer
    if (dialled !== undefined && this.#dialling.get(dialled) === peer) this.#dialling.delete(dialled)
    if (this.#peers.get(id) === peer) this.#peers.delete(id)
    const isUseless = reason === 'useless_peer' || reason === 'incompatible_version' || reason === 'self'
    const node = dialled ?? id
    if (!this.#peers.has(node)) this.candidates.ended(node, isUseless ? 'useless' : 'failed')
    if (peer.hello !== undefined) {
      this.#deps.onEnded(peer.bytes)
      const key = `${by}:${reason}`
      this.#ended[key] = (this.#ended[key] ?? 0) + 1
    }
    this.#deps.log.debug('execution peer ended', { id: id.slice(0, 16), host: peer.host, client: peer.client, by, reason, why })
    if (!this.#isClosed) this.#deps.onPeers()
  }
}
