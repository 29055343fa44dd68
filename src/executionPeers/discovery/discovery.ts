import { randomBytes } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { ForkId } from '#chainspec/forkId'
import { equalBytes, latin1 } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { addressGroup, ownAddresses } from '#lib/peers/inboundLimits'
import { RateLimit } from '#lib/peers/rateLimit'
import { publicKeyOf } from '#lib/secp256k1'
import { addressOfRecord, idOfKey, keyOfId, type NodeAddress } from '../net/nodeId.ts'
import { NodeTable, type TableNode } from './nodeTable.ts'
import { decodePacket, type Endpoint, encodePacket, type Message, maxNeighbours, type NodeRecord, type Received } from './packets.ts'
import { createRecord, decodeRecord, forkIdsOf, type NodeRecordText } from './record.ts'

export type DiscoveryDeps = {
  readonly clock: Clock
  readonly log: Log
  /** fork id for this node's record */
  readonly forkId: () => ForkId
  /** Returns whether a node with this fork id may be on the same chain. */
  readonly isOfChain: (forkId: ForkId) => boolean
  readonly onNode: (node: NodeAddress) => void
}

export type DiscoveryOptions = {
  readonly privateKey: Uint8Array
  readonly host: string
  readonly port: number
  readonly tcpPort: number
  /** address in the record; absent: the one that four nodes report */
  readonly advertisedHost?: string | undefined
  readonly bootnodes: readonly NodeAddress[]
}

/** Pause between two lookups, lifetime of a packet, time for an answer, lifetime of a proof of an address. */
const [lookupMs, packetSec, answerMs, provenMs] = [5_000, 20, 2_000, 12 * 3_600_000]
const refreshMs = 60_000
const nodesAsked = 3
const neighboursCount = 16
/** Votes for this node's own address. */
const votesNeeded = 4
const maxPending = 256
const maxAddresses = 1_024
/** Packets a second of all, and of one address: each costs a recovered key. */
const limits = { all: { perSec: 300, burst: 600 }, one: { perSec: 30, burst: 60 } }

type Pending = { readonly id: string; readonly sentMs: number }

/** Discovery v4, the minimum: answers, keeps a table, looks up random targets, reads records, and reports nodes of this chain. */
export class Discovery {
  readonly #deps: DiscoveryDeps
  readonly #options: DiscoveryOptions
  readonly #key: Uint8Array
  readonly #socket: Socket
  readonly #table = new NodeTable()
  /** by the hash of the request, latin1: pings and requests for records */
  readonly #pending = new Map<string, Pending>()
  /** nodes that were asked for neighbours, until when their answers count */
  readonly #asked = new Map<string, number>()
  readonly #all: RateLimit
  readonly #byAddress = new Map<string, RateLimit>()
  readonly #votes = new Map<string, string>()
  #ownHost: string | undefined
  #record: NodeRecordText | undefined
  #recordOf = ''
  #sequence: number
  #timer: Disposable | undefined
  #isClosed = false

  constructor(deps: DiscoveryDeps, options: DiscoveryOptions) {
    this.#deps = deps
    this.#options = options
    this.#key = publicKeyOf(options.privateKey)
    this.#ownHost = options.advertisedHost
    // grows with each start, as nodes keep the record with the highest sequence
    this.#sequence = Math.floor(deps.clock.nowMs())
    this.#all = new RateLimit(deps.clock, limits.all.perSec, limits.all.burst)
    this.#socket = createSocket({ type: isIPv6(options.host) ? 'udp6' : 'udp4', recvBufferSize: 2 ** 18 })
  }

  /** Binds the port and begins to look for nodes. @throws Error of the socket */
  async start(): Promise<void> {
    const { host, port, bootnodes } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('error', reject)
      this.#socket.bind({ address: host, port, exclusive: true }, () => resolve())
    })
    this.#socket.on('error', (error) => this.#deps.log.debug('socket of discovery failed', { error }))
    this.#socket.on('message', (packet, from) => this.#onPacket(packet, from))
    for (const { id, host: ip, udpPort, tcpPort } of bootnodes) this.#learn(id, { ip, udpPort, tcpPort, publicKey: keyOfId(id) })
    this.#plan()
  }

  async stop(): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Nodes that have answered. */
  get size(): number {
    return this.#table.size
  }

  /** Address under which this node is known; undefined: not known yet. */
  get ownHost(): string | undefined {
    return this.#ownHost
  }

  /** Record of this node. */
  get record(): NodeRecordText {
    const forkId = this.#deps.forkId()
    const facts = { host: this.#ownHost, tcpPort: this.#options.tcpPort, udpPort: this.port, forkId }
    const of = JSON.stringify(facts)
    if (this.#record === undefined || of !== this.#recordOf) {
      this.#record = createRecord(this.#options.privateKey, { ...facts, sequence: ++this.#sequence })
      this.#recordOf = of
    }
    return this.#record
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(lookupMs, () => {
      this.#look()
      if (!this.#isClosed) this.#plan()
    })
  }

  #look(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    for (const [hash, { id, sentMs }] of this.#pending) {
      if (nowMs - sentMs <= answerMs) continue
      this.#pending.delete(hash)
      this.#table.failed(id)
    }
    const target = new Uint8Array(randomBytes(64))
    const nearest = this.#table.nearest(target, nodesAsked)
    for (const { id, node } of nearest) {
      this.#asked.set(id, nowMs + answerMs)
      this.#send(node, { kind: 'findNode', target, expires: this.#expires() })
    }
    for (const [id, untilMs] of this.#asked) if (untilMs < nowMs) this.#asked.delete(id)
    for (const one of this.#table.all()) {
      if (one.provenMs === undefined || nowMs - one.provenMs > refreshMs) this.#ping(one)
      else if (one.recordRequests > 0) this.#askRecord(one)
    }
    // the table of a node that lost all others begins again
    if (nearest.length === 0)
      for (const { id, host: ip, udpPort, tcpPort } of this.#options.bootnodes)
        this.#learn(id, { ip, udpPort, tcpPort, publicKey: keyOfId(id) })
  }

  #expires(): number {
    return Math.floor(this.#deps.clock.nowMs() / 1_000) + packetSec
  }

  #endpoint(): Endpoint {
    return { ip: this.#ownHost ?? '0.0.0.0', udpPort: this.port, tcpPort: this.#options.tcpPort }
  }

  #send({ ip, udpPort }: Pick<Endpoint, 'ip' | 'udpPort'>, message: Message): Uint8Array {
    const { packet, hash } = encodePacket(this.#options.privateKey, message)
    if (!this.#isClosed && udpPort > 0) this.#socket.send(packet, udpPort, ip, () => {})
    return hash
  }

  #ask(id: string, to: Endpoint, message: Message): void {
    if (this.#pending.size >= maxPending) return
    this.#pending.set(latin1(this.#send(to, message)), { id, sentMs: this.#deps.clock.elapsedMs() })
  }

  #ping({ id, node }: TableNode): void {
    if ([...this.#pending.values()].some((waiting) => waiting.id === id)) return
    this.#ask(id, node, { kind: 'ping', from: this.#endpoint(), to: node, expires: this.#expires() })
  }

  /** A node answers only when it has a proof of this node's address, so the request follows some time after the ping. */
  #askRecord(one: TableNode): void {
    if ([...this.#pending.values()].some((waiting) => waiting.id === one.id)) return
    one.recordRequests--
    this.#ask(one.id, one.node, { kind: 'enrRequest', expires: this.#expires() })
  }

  /** Adds a node that another one named, and pings it. */
  #learn(id: string, node: NodeRecord): void {
    if (equalBytes(node.publicKey, this.#key) || this.#table.get(id)?.provenMs !== undefined) return
    const added = this.#table.add(id, node)
    if (added) this.#ping(added)
  }

  #isAllowed(ip: string): boolean {
    if (this.#all.take() > 0) {
      this.#all.giveBack()
      return false
    }
    if (ownAddresses.includes(ip)) return true
    const { clock } = this.#deps
    const group = addressGroup(ip)
    let one = this.#byAddress.get(group)
    if (one === undefined) {
      if (this.#byAddress.size >= maxAddresses)
        for (const [other, limit] of this.#byAddress) if (limit.isFull) this.#byAddress.delete(other)
      if (this.#byAddress.size >= maxAddresses) return false
      one = new RateLimit(clock, limits.one.perSec, limits.one.burst)
      this.#byAddress.set(group, one)
    }
    if (one.take() === 0) return true
    one.giveBack()
    return false
  }

  #onPacket(packet: Uint8Array, { address, port }: RemoteInfo): void {
    if (!this.#isAllowed(address)) return
    try {
      const received = decodePacket(packet)
      const { message } = received
      if ('expires' in message && message.expires < this.#deps.clock.nowMs() / 1_000) return
      this.#onMessage(received, { ip: address, udpPort: port })
    } catch (error) {
      this.#deps.log.debug('packet of discovery not understood', { from: address, reason: errorMessage(error) })
    }
  }

  #onMessage({ message, publicKey, hash }: Received, from: Pick<Endpoint, 'ip' | 'udpPort'>): void {
    const id = idOfKey(publicKey)
    if (equalBytes(publicKey, this.#key)) return
    switch (message.kind) {
      case 'ping': {
        this.#send(from, { kind: 'pong', to: { ...from, tcpPort: message.from.tcpPort }, pingHash: hash, expires: this.#expires() })
        this.#learn(id, { ...from, tcpPort: message.from.tcpPort, publicKey })
        return
      }
      case 'pong':
        this.#onPong(id, message.pingHash, message.to.ip, { ...from, publicKey })
        return
      case 'findNode':
        if (this.#isProven(id, from)) this.#answerFindNode(message.target, from)
        return
      case 'neighbours':
        if ((this.#asked.get(id) ?? 0) < this.#deps.clock.elapsedMs()) return
        for (const node of message.nodes) if (node.ip !== '' && node.udpPort > 0) this.#learn(idOfKey(node.publicKey), node)
        return
      case 'enrRequest':
        if (this.#isProven(id, from)) this.#send(from, { kind: 'enrResponse', requestHash: hash, record: this.record.bytes })
        return
      case 'enrResponse':
        this.#onRecord(id, message.requestHash, message.record)
    }
  }

  /** Returns whether a node has proved that it receives packets at an address; without that, answers could be aimed at others. */
  #isProven(id: string, from: Pick<Endpoint, 'ip' | 'udpPort'>): boolean {
    const known = this.#table.get(id)
    if (known?.provenMs === undefined || known.node.ip !== from.ip) return false
    return this.#deps.clock.elapsedMs() - known.provenMs < provenMs
  }

  #onPong(id: string, pingHash: Uint8Array, seenAs: string, node: Omit<NodeRecord, 'tcpPort'>): void {
    if (this.#pending.get(latin1(pingHash))?.id !== id) return
    this.#pending.delete(latin1(pingHash))
    const known = this.#table.get(id)
    if (known === undefined) return
    const proven = { ...node, tcpPort: known.node.tcpPort }
    this.#table.proven(id, proven, this.#deps.clock.elapsedMs())
    this.#vote(id, seenAs)
  }

  /** Counts the addresses that nodes report for this one. */
  #vote(id: string, ip: string): void {
    if (this.#options.advertisedHost !== undefined || ip === '' || ip === '0.0.0.0') return
    this.#votes.set(id, ip)
    for (const [oldest] of this.#votes) {
      if (this.#votes.size <= 64) break
      this.#votes.delete(oldest)
    }
    const same = [...this.#votes.values()].filter((other) => other === ip)
    if (same.length >= votesNeeded) this.#ownHost = ip
  }

  #answerFindNode(target: Uint8Array, to: Pick<Endpoint, 'ip' | 'udpPort'>): void {
    const nodes = this.#table.nearest(target, neighboursCount).map(({ node }) => node)
    for (let from = 0; from < Math.max(1, nodes.length); from += maxNeighbours)
      this.#send(to, { kind: 'neighbours', nodes: nodes.slice(from, from + maxNeighbours), expires: this.#expires() })
  }

  #onRecord(id: string, requestHash: Uint8Array, bytes: Uint8Array): void {
    if (this.#pending.get(latin1(requestHash))?.id !== id) return
    this.#pending.delete(latin1(requestHash))
    const record = decodeRecord(bytes)
    const known = this.#table.get(id)
    if (known) known.recordRequests = 0
    if (record === undefined || !forkIdsOf(record).some((forkId) => this.#deps.isOfChain(forkId))) return
    const address = addressOfRecord(record)
    if (address && address.id !== id) return
    // a node that does not know its own address is reached where it answers
    const tcpPort = address?.tcpPort ?? record.tcp ?? known?.node.tcpPort
    const host = known?.node.ip ?? address?.host
    if (host !== undefined && tcpPort !== undefined && tcpPort > 0)
      this.#deps.onNode({ id, host, tcpPort, udpPort: known?.node.udpPort ?? tcpPort })
  }
}
