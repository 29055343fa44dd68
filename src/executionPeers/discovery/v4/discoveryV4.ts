import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { equalBytes, latin1 } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { publicKeyOf } from '#lib/secp256k1'
import { addressOfRecord, idOfKey, keyOfId } from '../../net/nodeId.ts'
import type { DiscoveryDeps } from '../deps.ts'
import { type Endpoint, isSameIp, type NodeRecord } from '../endpoint.ts'
import { NodeTable, type TableNode } from '../nodeTable.ts'
import { decodeRecord, forkIdsOf } from '../record.ts'
import type { UdpAddress } from '../socket.ts'
import { decodePacket, encodePacket, type Message, maxNeighbours, type Received } from './packets.ts'

/** Lifetime of a packet, time for an answer, lifetime of a proof of an address. */
const [packetSec, answerMs, provenMs] = [20, 2_000, 12 * 3_600_000]
const refreshMs = 60_000
const nodesAsked = 3
const neighboursCount = 16
const maxPending = 256

/** `ip`: address that the request was sent to. */
type Pending = { readonly id: string; readonly ip: string; readonly sentMs: number }

/** Discovery v4, the minimum: answers, keeps a table, looks up random targets, reads records, and reports nodes of this chain. */
export class DiscoveryV4 {
  readonly #deps: DiscoveryDeps
  readonly #key: Uint8Array
  readonly #table = new NodeTable()
  /** by the hash of the request, latin1: pings and requests for records */
  readonly #pending = new Map<string, Pending>()
  /** nodes that were asked for neighbours, until when their answers count */
  readonly #asked = new Map<string, number>()

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps
    this.#key = publicKeyOf(deps.privateKey)
    this.#learnBootnodes()
  }

  /** Nodes that have answered. */
  get size(): number {
    return this.#table.size
  }

  /** Looks up a random target, pings nodes, and drops nodes without an answer; called every few seconds. */
  look(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    for (const [hash, { id, sentMs }] of this.#pending) {
      if (nowMs - sentMs <= answerMs) continue
      this.#pending.delete(hash)
      this.#table.failed(id)
    }
    const target = new Uint8Array(randomBytes(64))
    const nearest = this.#table.nearest(keccak256(target), nodesAsked)
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
    if (nearest.length === 0) this.#learnBootnodes()
  }

  #learnBootnodes(): void {
    for (const { id, host: ip, udpPort, tcpPort } of this.#deps.bootnodes) this.#learn(id, { ip, udpPort, tcpPort, publicKey: keyOfId(id) })
  }

  #expires(): number {
    return Math.floor(this.#deps.clock.nowMs() / 1_000) + packetSec
  }

  #endpoint(): Endpoint {
    const { own, socket } = this.#deps
    return { ip: own.host ?? '0.0.0.0', udpPort: socket.port, tcpPort: own.tcpPort }
  }

  #send(to: UdpAddress, message: Message): Uint8Array {
    const { packet, hash } = encodePacket(this.#deps.privateKey, message)
    this.#deps.socket.send(packet, to)
    return hash
  }

  #ask(id: string, to: Endpoint, message: Message): void {
    if (this.#pending.size >= maxPending) return
    this.#pending.set(latin1(this.#send(to, message)), { id, ip: to.ip, sentMs: this.#deps.clock.elapsedMs() })
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

  /** Reads a packet. @throws RlpError when it is malformed */
  read(packet: Uint8Array, from: UdpAddress): void {
    const received = decodePacket(packet)
    const { message } = received
    if ('expires' in message && message.expires < this.#deps.clock.nowMs() / 1_000) return
    this.#onMessage(received, from)
  }

  #onMessage({ message, publicKey, hash }: Received, from: UdpAddress): void {
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
        if (this.#isProven(id, from)) this.#send(from, { kind: 'enrResponse', requestHash: hash, record: this.#deps.own.current.bytes })
        return
      case 'enrResponse':
        this.#onRecord(id, message.requestHash, message.record)
    }
  }

  /** Returns whether a node has proved that it receives packets at an address; without that, answers could be aimed at others. */
  #isProven(id: string, from: UdpAddress): boolean {
    const known = this.#table.get(id)
    if (known?.provenMs === undefined || !isSameIp(known.node.ip, from.ip)) return false
    return this.#deps.clock.elapsedMs() - known.provenMs < provenMs
  }

  #onPong(id: string, pingHash: Uint8Array, seenAs: string, node: Omit<NodeRecord, 'tcpPort'>): void {
    const pending = this.#pending.get(latin1(pingHash))
    if (pending?.id !== id) return
    // a pong from elsewhere proves nothing about that address: its sender may be forged. Only bootnodes are named by a host
    if (isIP(pending.ip) !== 0 && !isSameIp(pending.ip, node.ip)) return
    this.#pending.delete(latin1(pingHash))
    const known = this.#table.get(id)
    if (known === undefined) return
    const proven = { ...node, tcpPort: known.node.tcpPort }
    this.#table.proven(id, proven, this.#deps.clock.elapsedMs())
    this.#deps.own.vote(node, seenAs)
  }

  #answerFindNode(target: Uint8Array, to: UdpAddress): void {
    const nodes = this.#table.nearest(keccak256(target), neighboursCount).map(({ node }) => node)
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
