import type { EventEmitter } from 'node:events'
import { Discv5 } from '@chainsafe/discv5'
import { ENR, SignableENR } from '@chainsafe/enr'
import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { addressRange } from '#lib/peers/addressRange'
import { addressOfEnr, hostOf, isOfChain, opstackPair, type PeerAddress, parsePeer } from './peerAddress.ts'

export type DiscoveryDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly onPeer: (peer: PeerAddress) => void
}

export type DiscoveryOptions = {
  readonly chainId: number
  readonly identity: Uint8Array
  readonly host: string
  /** UDP port to bind */
  readonly port: number
  /** in the record; without `host`, peers tell the address they see */
  readonly advertised: { readonly host?: string | undefined; readonly tcpPort: number; readonly udpPort: number }
  readonly bootnodes: readonly string[]
}

const lookupMs = 5_000
/** Peers that must see the same address before the record has it. */
const votes = 4
/** Packets per second of one address, and of all: a handshake costs a signature. */
const packetLimits = {
  globalQuota: { maxTokens: 500, replenishAllEvery: 1_000 },
  byIPQuota: { maxTokens: 50, replenishAllEvery: 1_000 },
}

/** Makes the node's record. */
export function createRecord({
  chainId,
  identity,
  advertised,
}: Pick<DiscoveryOptions, 'chainId' | 'identity' | 'advertised'>): SignableENR {
  const record = SignableENR.createV4(identity, opstackPair(chainId))
  const { host, tcpPort, udpPort } = advertised
  if (host?.includes(':')) Object.assign(record, { ip6: host, tcp6: tcpPort, udp6: udpPort })
  else Object.assign(record, { ...(host !== undefined && { ip: host }), tcp: tcpPort, udp: udpPort })
  return record
}

/** Returns whether peers may have private addresses: a bootnode has one, or there are no bootnodes and this node has no public address. */
export function isPrivateNetwork({ bootnodes, advertised }: Pick<DiscoveryOptions, 'bootnodes' | 'advertised'>): boolean {
  if (bootnodes.length === 0) return advertised.host === undefined || addressRange(advertised.host) === 'private'
  return bootnodes.some((text) => {
    try {
      return addressRange(hostOf(parsePeer(text))) === 'private'
    } catch {
      return false
    }
  })
}

/** discv5 with the `opstack` entry: finds nodes of the chain, five seconds between two lookups. */
export class Discovery {
  readonly #deps: DiscoveryDeps
  readonly #options: DiscoveryOptions
  readonly #isPrivateNetwork: boolean
  readonly #discv5: Discv5
  readonly #stop = new AbortController()

  constructor(deps: DiscoveryDeps, options: DiscoveryOptions) {
    this.#deps = deps
    this.#options = options
    this.#isPrivateNetwork = isPrivateNetwork(options)
    const { host, port, identity, advertised } = options
    // the library takes addresses of its own version of multiaddr, which a record makes
    const bind = SignableENR.createV4(identity)
    const isIp6 = host.includes(':')
    Object.assign(bind, isIp6 ? { ip6: host, udp6: port } : { ip: host, udp: port })
    const bindAddress = bind.getLocationMultiaddr(isIp6 ? 'udp6' : 'udp4')
    if (bindAddress === undefined) throw new RangeError(`cannot bind ${host}`)
    this.#discv5 = Discv5.create({
      enr: createRecord(options),
      privateKey: privateKeyFromRaw(identity) as unknown as Parameters<typeof Discv5.create>[0]['privateKey'],
      bindAddrs: isIp6 ? { ip6: bindAddress } : { ip4: bindAddress },
      config: { enrUpdate: advertised.host === undefined, addrVotesToUpdateEnr: votes, lookupTimeout: 10_000 },
      rateLimiterOpts: packetLimits,
    })
  }

  get enr(): string {
    return this.#discv5.enr.encodeTxt()
  }

  get nodeId(): string {
    return this.#discv5.enr.nodeId
  }

  /** Returns the records of the routing table. */
  table(): readonly string[] {
    return this.#discv5.kadValues().map((enr) => enr.encodeTxt())
  }

  get size(): number {
    return this.#discv5.kadValues().length
  }

  /** Whether a node answers at present. */
  get hasAnswer(): boolean {
    return this.#discv5.connectedPeerCount > 0
  }

  add(enr: string): void {
    this.#discv5.addEnr(enr)
  }

  /** Binds the socket and starts to look for peers. @throws Error of the socket */
  async start(): Promise<void> {
    const events = this.#discv5 as unknown as EventEmitter<{ discovered: [ENR]; enrAdded: [ENR] }>
    events.on('discovered', (enr) => this.#found(enr))
    events.on('enrAdded', (enr) => this.#found(enr))
    await this.#discv5.start()
    for (const text of this.#options.bootnodes) if (text.startsWith('enr:')) this.#addBootnode(text)
    void this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#discv5.stop()
  }

  #addBootnode(text: string): void {
    try {
      this.#discv5.addEnr(ENR.decodeTxt(text))
    } catch (error) {
      this.#deps.log.warn('bootnode not understood', { bootnode: text.slice(0, 80), reason: errorMessage(error) })
    }
  }

  /** Passes on a record, which any node may have invented: it must not lead to services of this machine or of its network. */
  #found(enr: ENR): void {
    if (!isOfChain(enr, this.#options.chainId)) return
    const peer = addressOfEnr(enr)
    if (peer === undefined) return
    const range = addressRange(hostOf(peer))
    if (range === 'public' || (range === 'private' && this.#isPrivateNetwork)) this.#deps.onPeer(peer)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    while (!this.#stop.signal.aborted) {
      try {
        for (const enr of await this.#discv5.findRandomNode()) this.#found(enr)
      } catch (error) {
        log.debug('lookup failed', { reason: errorMessage(error) })
      }
      await clock.delay(lookupMs, this.#stop.signal).catch(() => {})
    }
  }
}
