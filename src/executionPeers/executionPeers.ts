import { extname } from 'node:path'
import { abortable } from '#lib/abortable'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { RestartedThread } from '#lib/peers/restartedThread'
import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { ExecutionPeerFacts, ExecutionPeerNetwork, ExecutionPeersSelf } from '#types/executionPeer'
import type { Payload } from '#types/payload'
import { rangeOf, readBodies, readHeaders, readReceipts } from './chainReads.ts'
import { discoveryVersions } from './discovery/discovery.ts'
import { executionPeersFault } from './faults.ts'
import type { ExecutionPeersMetrics } from './metrics.ts'
import { servedOutcomes } from './net/chainServer.ts'
import { fetchedOutcomes } from './net/gap.ts'
import { type DisconnectReason, disconnectReasons } from './rlpx/baseMessages.ts'
import type {
  ChainFacts,
  ExecutionPeersListening,
  ExecutionPeersReport,
  ExecutionPeersSettings,
  OfExecutionPeersThread,
  OfMain,
} from './thread/protocol.ts'

export type ExecutionPeersDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: ExecutionPeersMetrics
  /** the chain of this node */
  readonly view: () => ChainView
}

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./thread/threadEntry${extname(import.meta.url)}`, import.meta.url)

/** Interval between two reads of the head for peers. */
const headMs = 1_000

type Thread = RestartedThread<OfExecutionPeersThread, OfMain, ExecutionPeersSettings, ExecutionPeersListening>
type GapEnd = 'filled' | 'unavailable' | 'too_far' | 'wrong' | 'stopped'

/** The execution network of a node, in a thread of its own. Disposing leaves it. */
export class ExecutionPeers implements AsyncDisposable {
  readonly #deps: ExecutionPeersDeps
  readonly #thread: Thread
  #count = 0
  #lastGap = 0
  #timer: Disposable | undefined

  private constructor(deps: ExecutionPeersDeps, thread: Thread) {
    this.#deps = deps
    this.#thread = thread
    this.#plan()
  }

  /** @throws Fault EXECUTION_P2P_PORT, EXECUTION_P2P_PEER (fatal) */
  static async open(deps: ExecutionPeersDeps, settings: Omit<ExecutionPeersSettings, 'chain'>): Promise<ExecutionPeers> {
    const { clock, view } = deps
    const log = deps.log.child('executionPeers')
    const elapsedMs = (): number => clock.elapsedMs()
    let peers: ExecutionPeers | undefined
    const here: OfMain = {
      headers: async (query) => reading(view, (of) => readHeaders(of, query, elapsedMs)),
      bodies: async (hashes) => reading(view, (of) => readBodies(of, hashes, elapsedMs)),
      receipts: async (version, hashes) => reading(view, (of) => readReceipts(of, version, hashes, elapsedMs)),
      isCanonical: async ({ number, hash }) => reading(view, (of) => of.canonicalHash(number) === hash),
      report: (report): void => {
        if (peers) peers.#onReport(report)
      },
    }
    const stopped = (reason: string, cause?: unknown): Error => executionPeersFault('EXECUTION_P2P_STOPPED', { reason }, cause)
    const thread: Thread = await RestartedThread.start(
      // lines of the thread name the module themselves
      { clock, log: deps.log, here, entry, name: 'basalt execution peers', stopped },
      { ...settings, chain: reading(view, factsOf) },
    )
    peers = new ExecutionPeers({ ...deps, log }, thread)
    const { tcpPort, udpPort, enode } = thread.ready ?? {}
    log.info('listening for execution peers', { tcp: tcpPort, udp: udpPort ?? 'off', enode })
    return peers
  }

  get listening(): ExecutionPeersListening | undefined {
    return this.#thread.ready
  }

  /** Number of connected peers. */
  get count(): number {
    return this.#thread.failure ? 0 : this.#count
  }

  /** Calls of an operator. */
  get network(): ExecutionPeerNetwork {
    const { ask } = this.#thread
    return {
      self: (): Promise<ExecutionPeersSelf> => ask('self'),
      peers: (): Promise<readonly ExecutionPeerFacts[]> => ask('peers'),
      count: async (): Promise<number> => this.count,
      isListening: async (): Promise<boolean> => this.listening !== undefined,
      keep: (node, isTrusted): Promise<void> => ask('keep', node, isTrusted),
      drop: (node, from): Promise<void> => ask('drop', node, from),
    }
  }

  /** Returns why no peer can connect, for the operator. */
  problems(): readonly string[] {
    const { failure } = this.#thread
    return failure ? [executionPeersFault('EXECUTION_P2P_STOPPED', { reason: errorMessage(failure) }).message] : []
  }

  /**
   * Fetches the missing ancestors of a block from peers, by hash. Yields them oldest first, in slices; the parent of the first one is canonical. Ends
   * early when no peer has them.
   * @param block known block, the hash of which is trusted
   * @param floor number of the unsafe head
   * @param lowest number of the safe head, below which nothing is replaced
   */
  async *ancestors(
    block: Pick<Payload, 'blockNumber' | 'parentHash'>,
    floor: number,
    lowest: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Payload[], void, void> {
    const { ask, tell } = this.#thread
    const { log, metrics, clock } = this.#deps
    const top: BlockId = { number: block.blockNumber - 1, hash: block.parentHash }
    const fromMs = clock.elapsedMs()
    let end: GapEnd = 'stopped'
    let filled = 0
    const id = ++this.#lastGap
    try {
      const opened = await abortable(ask('openGap', id, top, Math.min(floor, top.number), lowest), signal)
      if (opened.kind !== 'opened') {
        end = opened.kind
        return
      }
      log.info('fetching missing blocks from execution peers', {
        blocks: opened.blocks,
        from: top.number - opened.blocks + 1,
        to: top.number,
      })
      let asked = ask('nextBlocks', id)
      for (;;) {
        const blocks = await abortable(asked, signal)
        if (blocks === 'unavailable' || blocks.length === 0) {
          end = blocks === 'unavailable' ? 'unavailable' : 'filled'
          return
        }
        // the next slice crosses while the caller executes this one
        asked = ask('nextBlocks', id)
        asked.catch(() => {})
        filled += blocks.length
        metrics.filled.inc({}, blocks.length)
        yield blocks
      }
    } finally {
      tell('closeGap', id)
      metrics.gaps.inc({ outcome: end })
      log.info('missing blocks fetched from execution peers', { outcome: end, blocks: filled, ms: Math.round(clock.elapsedMs() - fromMs) })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    await this.#thread[Symbol.asyncDispose]()
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(headMs, () => {
      try {
        this.#readHead()
      } catch (error) {
        this.#deps.log.debug('head not read for execution peers, retrying', { reason: errorMessage(error) })
      }
      this.#plan()
    })
  }

  /** Passes the newest block to the thread. @throws Error of the view */
  #readHead(): void {
    const chain = reading(this.#deps.view, factsOf)
    const { latestHash, earliest } = this.#thread.settings.chain.range
    if (chain.range.latestHash === latestHash && chain.range.earliest === earliest) return
    this.#thread.settings = { ...this.#thread.settings, chain }
    this.#thread.tell('setChain', chain)
  }

  #onReport({ peers, tableNodes, served, fetched, receivedBytes, sentBytes, ended, cpuSec }: ExecutionPeersReport): void {
    const { metrics } = this.#deps
    for (const { direction, version, count } of peers) metrics.peers.set({ direction, version: version === 68 ? '68' : '69' }, count)
    this.#count = peers.reduce((sum, { count }) => sum + count, 0)
    for (const version of discoveryVersions) metrics.tableNodes.set({ version }, tableNodes[version])
    for (const outcome of servedOutcomes) metrics.served.inc({ outcome }, served[outcome])
    for (const outcome of fetchedOutcomes) metrics.fetched.inc({ outcome }, fetched[outcome])
    metrics.bytes.inc({ direction: 'received' }, receivedBytes)
    metrics.bytes.inc({ direction: 'sent' }, sentBytes)
    for (const by of ['us', 'peer'] as const)
      for (const reason of Object.keys(disconnectReasons) as DisconnectReason[])
        metrics.ended.inc({ by, reason }, ended[`${by}:${reason}`] ?? 0)
    metrics.cpu.set({}, cpuSec)
  }
}

function reading<T>(open: () => ChainView, read: (view: ChainView) => T): T {
  using view = open()
  return read(view)
}

function factsOf(view: ChainView): ChainFacts {
  const range = rangeOf(view)
  return { range, timestampSec: view.header(range.latestHash)?.timestamp ?? 0 }
}
