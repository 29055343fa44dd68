import { randomBytes } from 'node:crypto'
import { equalBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import { publicKeyOf, uncompressedKey } from '#lib/secp256k1'
import { idOfKey, keyOfId } from '../../net/nodeId.ts'
import type { DiscoveryDeps } from '../deps.ts'
import type { NodeRecord } from '../endpoint.ts'
import { logDistance, NodeTable, type TableNode } from '../nodeTable.ts'
import { endpointOfRecord, forkIdsOf, type SignedRecord } from '../record.ts'
import type { UdpAddress } from '../socket.ts'
import { type Message, maxItems } from './messages.ts'
import { type Contact, readRecord, Sessions } from './sessions.ts'

/** A request that was sent and not answered; one a node. `distances`: absent for a ping. `left`: messages of the answer that are to come. */
type Open = { readonly request: Uint8Array; readonly distances?: readonly number[]; readonly sentMs: number; left?: number }

/** Time for an answer, time after which a node is pinged again. */
const [answerMs, refreshMs] = [2_000, 60_000]
const nodesAsked = 3
const maxOpen = 256
/** Records of a message: each has up to 300 bytes. */
const recordsPerMessage = 3
const maxMessages = 16

/** Distances of nearly all nodes, for a table that needs any. */
const farthest = [256, 255, 254, 253, 252, 251, 250, 249]
const distancesAround = (distance: number): readonly number[] =>
  [distance, distance + 1, distance - 1].filter((each) => each > 0 && each <= 256)

/** Discovery v5, the minimum: answers, keeps a table, looks up random targets, and reports nodes of this chain by their records. */
export class DiscoveryV5 {
  readonly #deps: DiscoveryDeps
  readonly #sessions: Sessions
  readonly #key: Uint8Array
  /** by the hash of the public key, hex */
  readonly #table = new NodeTable()
  readonly #open = new Map<string, Open>()

  /** @param protocol 6 characters that all packets of the network have: `discv5`, in Base's network `basev0` */
  constructor(deps: DiscoveryDeps, protocol: string) {
    this.#deps = deps
    this.#key = publicKeyOf(deps.privateKey)
    this.#sessions = new Sessions({
      ...{ clock: deps.clock, socket: deps.socket, own: deps.own, privateKey: deps.privateKey, protocol },
      known: (id): { readonly publicKey: Uint8Array; readonly record: SignedRecord | undefined } | undefined => {
        const known = this.#table.get(id)
        return known && { publicKey: known.node.publicKey, record: known.record }
      },
      onRecord: (record, from): void => void this.#learnRecord(record, from),
      onMessage: (from, message): void => this.#onMessage(from, message),
    })
    this.#learnBootnodes()
  }

  /** Nodes that have answered. */
  get size(): number {
    return this.#table.size
  }

  /** Reads a packet. @returns false: it is of another protocol @throws RlpError when it is malformed */
  read(packet: Uint8Array, from: UdpAddress): boolean {
    return this.#sessions.read(packet, from)
  }

  /** Looks up a random target, pings nodes, and drops nodes without an answer; called every few seconds. */
  look(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    for (const [id, { sentMs }] of this.#open) {
      if (nowMs - sentMs <= answerMs) continue
      this.#open.delete(id)
      this.#table.failed(id)
    }
    const target = new Uint8Array(randomBytes(32))
    const nearest = this.#table.nearest(target, nodesAsked)
    const isSmall = this.#table.size < maxItems
    for (const one of nearest) this.#findNode(one, isSmall ? farthest : distancesAround(logDistance(one.place, target)))
    for (const one of this.#table.all()) {
      if (one.provenMs === undefined || nowMs - one.provenMs > refreshMs) this.#ping(one)
      else if (one.record === undefined && one.recordRequests-- > 0) this.#findNode(one, [0])
    }
    // the table of a node that lost all others begins again
    if (nearest.length === 0) this.#learnBootnodes()
  }

  #learnBootnodes(): void {
    for (const { id, host: ip, udpPort, tcpPort } of this.#deps.bootnodes)
      this.#pingNew(this.#learn({ ip, udpPort, tcpPort, publicKey: keyOfId(id) }))
  }

  #pingNew(one: TableNode | undefined): void {
    if (one && one.provenMs === undefined) this.#ping(one)
  }

  #ping(one: TableNode): void {
    this.#request(one, (request) => ({ kind: 'ping', request, enrSequence: this.#deps.own.current.sequence }))
  }

  #findNode(one: TableNode, distances: readonly number[]): void {
    this.#request(one, (request) => ({ kind: 'findNode', request, distances }), distances)
  }

  #request({ id, node, place }: TableNode, messageOf: (request: Uint8Array) => Message, distances?: readonly number[]): void {
    if (this.#open.has(id) || this.#open.size >= maxOpen) return
    const request = new Uint8Array(randomBytes(8))
    this.#open.set(id, { request, sentMs: this.#deps.clock.elapsedMs(), ...(distances && { distances }) })
    this.#sessions.request({ ...node, place }, messageOf(request))
  }

  /** Adds a node. @returns undefined: there is no room */
  #learn(node: NodeRecord, record?: SignedRecord): TableNode | undefined {
    if (equalBytes(node.publicKey, this.#key)) return undefined
    const added = this.#table.add(toHex(keccak256(node.publicKey)), node)
    if (added && record && record.enr.seq >= (added.record?.enr.seq ?? 0n)) added.record = record
    return added
  }

  /** Adds a node with its record; its next ping proves its address. @param from where it has answered: of use when its record has no address */
  #learnRecord(record: SignedRecord, from?: UdpAddress): TableNode | undefined {
    const endpoint = endpointOfRecord(record.enr) ?? (from && { ...from, tcpPort: record.enr.tcp ?? 0 })
    return endpoint && this.#learn({ ...endpoint, publicKey: uncompressedKey(record.enr.publicKey) }, record)
  }

  #onMessage(from: Contact, message: Message): void {
    const { own } = this.#deps
    const { request } = message
    const respond = (response: Message): void => this.#sessions.respond(from, response)
    switch (message.kind) {
      case 'ping':
        respond({ kind: 'pong', request, enrSequence: own.current.sequence, ip: from.ip, udpPort: from.udpPort })
        this.#onSequence(from, message.enrSequence)
        return
      case 'findNode':
        this.#answerFindNode(message.distances, request, respond)
        return
      case 'talkRequest':
        respond({ kind: 'talkResponse', request, response: new Uint8Array(0) })
        return
      case 'pong':
        this.#onPong(from, message)
        return
      case 'nodes':
        this.#onNodes(from, message)
        return
      case 'talkResponse':
    }
  }

  #answerFindNode(distances: readonly number[], request: Uint8Array, respond: (message: Message) => void): void {
    const known = this.#table.atDistances(distances, this.#sessions.place, maxItems)
    const others = known.flatMap(({ record }) => (record && endpointOfRecord(record.enr) ? [record.bytes] : []))
    const records = [...(distances.includes(0) ? [this.#deps.own.current.bytes] : []), ...others].slice(0, maxItems)
    const total = Math.max(1, Math.ceil(records.length / recordsPerMessage))
    for (let i = 0; i < total; i++)
      respond({ kind: 'nodes', request, total, records: records.slice(i * recordsPerMessage, (i + 1) * recordsPerMessage) })
  }

  /** Returns the open request that a message answers. */
  #answered(from: Contact, request: Uint8Array): { readonly id: string; readonly open: Open; readonly one: TableNode } | undefined {
    const id = toHex(from.place)
    const [open, one] = [this.#open.get(id), this.#table.get(id)]
    if (open === undefined || one === undefined || !equalBytes(open.request, request)) return undefined
    return { id, open, one }
  }

  #onPong(from: Contact, { request, ip, enrSequence }: Extract<Message, { kind: 'pong' }>): void {
    const answered = this.#answered(from, request)
    if (answered === undefined) return
    const { id, one } = answered
    this.#open.delete(id)
    this.#table.proven(id, one.node, this.#deps.clock.elapsedMs())
    this.#deps.own.vote(from, ip)
    this.#report(id)
    this.#onSequence(from, enrSequence)
  }

  /** Requests the record of a node that has a newer one. */
  #onSequence({ place }: Contact, enrSequence: number): void {
    const known = this.#table.get(toHex(place))
    if (known && BigInt(enrSequence) > (known.record?.enr.seq ?? 0n)) this.#findNode(known, [0])
  }

  #onNodes(from: Contact, { request, total, records }: Extract<Message, { kind: 'nodes' }>): void {
    const answered = this.#answered(from, request)
    const distances = answered?.open.distances
    if (answered === undefined || distances === undefined) return
    const { id, open } = answered
    open.left = (open.left ?? Math.min(total, maxMessages)) - 1
    if (open.left <= 0) this.#open.delete(id)
    for (const bytes of records) {
      const record = readRecord(bytes)
      const place = keccak256(uncompressedKey(record.enr.publicKey))
      if (!distances.includes(logDistance(place, from.place))) throw new RlpError('record at another distance')
      // a node that does not know its own address is reached where it answers
      const isItsOwn = equalBytes(place, from.place)
      this.#pingNew(this.#learnRecord(record, isItsOwn ? from : undefined))
      if (isItsOwn) this.#report(id)
    }
  }

  /** Reports a node that has answered, and whose record names this chain. */
  #report(id: string): void {
    const known = this.#table.get(id)
    if (known?.provenMs === undefined || known.record === undefined) return
    const { enr } = known.record
    if (!forkIdsOf(enr).some((forkId) => this.#deps.isOfChain(forkId))) return
    const { ip, udpPort, publicKey } = known.node
    const tcpPort = endpointOfRecord(enr)?.tcpPort ?? enr.tcp ?? 0
    if (tcpPort > 0) this.#deps.onNode({ id: idOfKey(publicKey), host: ip, tcpPort, udpPort })
  }
}
