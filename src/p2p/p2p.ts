import type { RollupConfig } from '#chainspec/rollupConfig'
import type { UnsafeInbox } from '#consensus/ports'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import type { AncestorSource } from '#types/ancestorSource'
import type { Address } from '#types/ids'
import type { Payload } from '#types/payload'
import type { PeerFacts, PeerNetwork, PeerStats, PeersFacts } from '#types/peer'
import type { BlockSigner } from './blockSigner.ts'
import { p2pFault } from './faults.ts'
import { GossipFeed } from './gossipFeed.ts'
import { GossipSilence } from './gossipSilence.ts'
import type { P2pMetrics } from './metrics.ts'
import { agentNames, type PeerEvents } from './net/peerEvents.ts'
import { encodeBody, joinEnvelope } from './protocol/envelope.ts'
import { isTooOld } from './protocol/judgeBlock.ts'
import { blockVersionAt } from './protocol/topics.ts'
import { P2pThread } from './thread/p2pThread.ts'
import type { P2pListening, P2pSettings } from './thread/protocol.ts'

export type P2pDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: P2pMetrics
  /** absent: blocks built here are not gossiped */
  readonly signBlock?: BlockSigner
  /** Called with each block before it is offered. @param latencyMs from its due time to its arrival */
  readonly onBlock?: (payload: Payload, latencyMs: number) => void
}

const notStarted = (): Error => p2pFault('P2P_STOPPED', { reason: 'not started' })

/** The consensus network of a node. Disposing leaves it. */
export class P2p implements AsyncDisposable {
  readonly #deps: P2pDeps
  readonly #config: RollupConfig
  #thread: P2pThread | undefined
  #feed: GossipFeed | undefined
  #inbox: UnsafeInbox | undefined
  readonly #stop = new AbortController()
  readonly #silence: GossipSilence

  private constructor(deps: P2pDeps, config: RollupConfig) {
    this.#deps = deps
    this.#config = config
    this.#silence = new GossipSilence(deps.clock)
  }

  /** @throws Fault P2P_PORT, P2P_PEER (fatal) */
  static async open(deps: P2pDeps, settings: P2pSettings): Promise<P2p> {
    const { clock } = deps
    const log = deps.log.child('p2p')
    const p2p = new P2p({ ...deps, log }, settings.config)
    p2p.#thread = await P2pThread.start(
      {
        // lines of the thread name the module themselves
        ...{ clock, log: deps.log },
        here: {
          block: (payload, latencyMs): void => p2p.#onBlock(payload, latencyMs),
          canonical: async (number): Promise<Payload | undefined> => p2p.#inbox?.canonical(number, p2p.#stop.signal),
          events: (events): void => p2p.#onEvents(events),
        },
      },
      settings,
    )
    const { peerId, tcpPort, udpPort, enr } = p2p.#thread.listening ?? {}
    log.info('listening for peers', { tcp: tcpPort, udp: udpPort ?? 'off', peerId, enr })
    return p2p
  }

  get listening(): P2pListening | undefined {
    return this.#thread?.listening
  }

  /** Returns the feed for consensus. */
  createFeed({ inbox, ancestors }: { readonly inbox: UnsafeInbox; readonly ancestors?: AncestorSource }): Pick<GossipFeed, 'run'> {
    const { clock, log, metrics } = this.#deps
    this.#inbox = inbox
    const feed = new GossipFeed({
      ...{ inbox, clock, log, metrics },
      ...(ancestors && { ancestors }),
      fetch: (numbers): Promise<readonly (Payload | undefined)[]> => this.call('fetch', numbers),
      blame: (number): void => this.#thread?.blame(number),
    })
    this.#feed = feed
    return feed
  }

  /** Calls the thread. Rejects with P2P_STOPPED (retry) while there is none. */
  readonly call: P2pThread['ask'] = (name, ...args) => (this.#thread ? this.#thread.ask(name, ...args) : Promise.reject(notStarted()))

  /** @throws Fault P2P_STOPPED (retry) */
  #started(): P2pThread {
    if (this.#thread === undefined) throw notStarted()
    return this.#thread
  }

  /** Calls of an operator. */
  get network(): PeerNetwork {
    return {
      self: (): Promise<PeerFacts> => this.call('self'),
      peers: (connectedOnly): Promise<PeersFacts> => this.call('peers', connectedOnly),
      peerStats: (): Promise<PeerStats> => this.call('peerStats'),
      discoveryTable: (): Promise<readonly string[]> => this.call('discoveryTable'),
      deny: async (kind, what, isDenied): Promise<void> => await this.#started().deny(kind, what, isDenied),
      denied: (kind): Promise<readonly string[]> => this.call('denied', kind),
      connect: (address): Promise<void> => this.call('connect', address),
      disconnect: (peerId): Promise<void> => this.call('disconnect', peerId),
      protect: (peerId, isProtected): Promise<void> => this.call('protect', peerId, isProtected),
    }
  }

  setSigner(signer: Address): void {
    this.#thread?.setSigner(signer)
  }

  /** Signs and gossips a block that was built here, unless peers would reject it for its age. Never throws: a block that is not gossiped reaches other nodes from L1. */
  async publish(payload: Payload): Promise<void> {
    const { signBlock, metrics, log, clock } = this.#deps
    if (signBlock === undefined) return
    if (isTooOld(payload.timestamp, clock.nowMs())) return metrics.published.inc({ outcome: 'too_old' })
    try {
      const version = blockVersionAt(this.#config.schedule, payload.timestamp)
      const body = encodeBody(payload, version)
      const message = joinEnvelope(await signBlock(body), body)
      const recipients = await this.call('publish', { version, message })
      metrics.published.inc({ outcome: recipients > 0 ? 'sent' : 'no_peers' })
    } catch (error) {
      metrics.published.inc({ outcome: 'failed' })
      log.warn('block not gossiped', { number: payload.blockNumber, reason: errorMessage(error) })
    }
  }

  /** Returns why blocks of peers may be missing, for the operator. A node that builds the blocks receives none. */
  problems(): readonly string[] {
    const failure = this.#thread?.failure
    if (failure) return [p2pFault('P2P_STOPPED', { reason: errorMessage(failure) }).message]
    const silence = this.#deps.signBlock === undefined ? this.#silence.problem() : undefined
    return silence === undefined ? [] : [silence]
  }

  /** Updates the gauges; called before each read of the metrics. */
  collect(): void {
    const { sinceBlockMs } = this.#silence
    this.#deps.metrics.lastBlock.set({}, sinceBlockMs === undefined ? -1 : sinceBlockMs / 1_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the node stops'))
    await this.#thread?.[Symbol.asyncDispose]()
  }

  #onBlock(payload: Payload, latencyMs: number): void {
    this.#silence.accepted()
    this.#deps.metrics.latency.observe({}, latencyMs / 1_000)
    this.#deps.onBlock?.(payload, latencyMs)
    this.#feed?.offer(payload)
  }

  #onEvents({ messages, served, fetched, receivedBytes, publishedBytes, bans, peers, meshPeers, tablePeers, cpuSec }: PeerEvents): void {
    const { metrics } = this.#deps
    for (const [outcome, count] of entriesOf(messages)) metrics.messages.inc({ outcome }, count)
    for (const [outcome, count] of entriesOf(served)) metrics.served.inc({ outcome }, count)
    for (const [outcome, count] of entriesOf(fetched)) metrics.fetched.inc({ outcome }, count)
    metrics.bytes.inc({ direction: 'received' }, receivedBytes)
    metrics.bytes.inc({ direction: 'published' }, publishedBytes)
    metrics.bans.inc({}, bans)
    for (const direction of ['inbound', 'outbound'] as const)
      for (const client of agentNames) {
        const count = peers.find((group) => group.direction === direction && group.agent === client)?.count ?? 0
        metrics.peers.set({ direction, client }, count)
      }
    this.#silence.report(
      peers.reduce((sum, { count }) => sum + count, 0),
      messages,
    )
    metrics.meshPeers.set({}, meshPeers)
    metrics.tablePeers.set({}, tablePeers)
    metrics.cpu.set({}, cpuSec)
  }
}

const entriesOf = <K extends string>(counts: Readonly<Partial<Record<K, number>>>): readonly (readonly [K, number])[] =>
  Object.entries(counts) as [K, number][]
