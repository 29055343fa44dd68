import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Clock } from '#lib/clock'
import { listen } from '#lib/listen'
import type { Log } from '#lib/log'
import { writeLine } from '#lib/logTransfer'
import { filterNotFound } from '#rpc/errors'
import type { Filters } from '#rpc/filters/filters'
import type { ApiKey } from '#rpc/limits/rateLimit'
import type { Readiness, SyncProgress } from '#rpc/ports'
import type { SequencerLink } from '#rpc/submitPorts'
import type { ExecutionPeerNetwork } from '#types/executionPeer'
import type { Hash } from '#types/ids'
import type { CacheBytes } from '../memory/cacheBudget.ts'
import type { RpcThreadsMetrics } from '../metrics.ts'
import type { NodeOptions } from '../nodeOptions.ts'
import type { HttpListen, ListenOptions, PageListen, Urls } from '../serving/servers.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { answerPeers } from './peerCalls.ts'
import { type RpcThread, type RpcThreadDeps, startRpcThread } from './rpcThread.ts'
import type { MetricValues, PassedAnswer, PassedCall, RpcWorkerSettings } from './rpcWorkerProtocol.ts'
import { ThreadReadings } from './threadReadings.ts'
import { startWatchdog } from './watchdog.ts'

export type RpcThreadsDeps = {
  readonly execution: Pick<ExecutionWorker, 'reader'>
  readonly clock: Clock
  readonly log: Log
  /** undefined: not syncing */
  readonly sync: () => SyncProgress | undefined
  /** Returns why the node is not ready. */
  readonly readiness: () => Readiness
  /** present: transactions are forwarded to it */
  readonly sequencer: SequencerLink | undefined
  /** absent: there are no execution peers */
  readonly peers?: ExecutionPeerNetwork | undefined
  /** filters of the main thread, which receive the same transactions as those of the other threads */
  readonly filters: Pick<Filters, 'notePending' | 'onPending'>
  readonly metrics: RpcThreadsMetrics
  readonly tracing?: Pick<Tracing, 'slow' | 'announced'> | undefined
}

export type RpcThreadsOptions = Pick<NodeOptions, 'config' | 'version' | 'callTimeoutMs' | 'pendingFallback' | 'slowCallMs'> & {
  readonly count: number
  readonly listen: Pick<ListenOptions, 'http' | 'ws'>
  readonly memoryMaxBytes: number
  /** caches of one thread */
  readonly cacheBytes: CacheBytes
  /** the node has pending blocks */
  readonly hasPending?: boolean
}

/** Threads that answer JSON-RPC, all on the same ports; a thread that ends is replaced. Disposing lets unanswered calls finish for a while. */
export interface RpcThreads extends AsyncDisposable {
  /** URLs of the shared ports */
  readonly urls: Urls
  /** Returns why no thread answers; empty: at least one does. */
  problems(): readonly string[]
  /** Returns the metrics of each thread since its start. */
  metrics(): Promise<readonly MetricValues[]>
  /** Replaces the API keys of the rate limits. */
  setApiKeys(keys: readonly ApiKey[]): void
}

/** Interval between comparisons of the sync progress that the threads have. */
const syncEveryMs = 250
/** Delay before a thread that ended is replaced; doubled after each failed start. */
const restartMs = { first: 100, most: 10_000 }

/**
 * Refuses a port that another program has. The system does not: with many threads on one port, other processes of this user may listen there too.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
async function checkFree(name: 'http' | 'ws', wanted: HttpListen): Promise<void> {
  const { host, port } = wanted
  if (port === 0) return
  const server = createServer()
  await listen(server, { host, port, flag: wanted.flag ?? `${name}.port` })
  await once(server.close(), 'close')
}

/** Returns the options with the ports that the first thread got. */
function sharedPorts(listen: RpcThreadsOptions['listen'], urls: Urls): RpcThreadsOptions['listen'] {
  const at = <L extends { readonly port: number }>(given: L, url = ''): L => ({ ...given, port: Number(new URL(url).port) || given.port })
  const { http, ws } = listen
  return { ...(http && { http: at(http, urls.http) }), ...(ws && { ws: at(ws, urls.ws) }) }
}

/** Returns the options with other API keys where there is a rate limit. */
function withKeys({ http, ws }: RpcThreadsOptions['listen'], keys: readonly ApiKey[]): RpcThreadsOptions['listen'] {
  const changed = <L extends PageListen>(given: L): L => (given.rateLimit ? { ...given, rateLimit: { ...given.rateLimit, keys } } : given)
  return { ...(http && { http: changed(http) }), ...(ws && { ws: changed(ws) }) }
}

/** Returns whether other threads answer JSON-RPC. */
export const isThreaded = ({ rpcThreads = 0, listen }: Pick<NodeOptions, 'rpcThreads' | 'listen'>): boolean =>
  rpcThreads > 0 && (listen.http !== undefined || listen.ws !== undefined)

/** Returns the servers that remain in the main thread. */
export function withoutThreaded({ http: _http, ws: _ws, ...rest }: ListenOptions): ListenOptions {
  return rest
}

class Threads implements RpcThreads {
  readonly #deps: RpcThreadsDeps
  readonly #options: RpcThreadsOptions
  /** by number; undefined: the thread has ended, and another one starts */
  readonly #seats: (RpcThread | undefined)[]
  readonly #closing = new AbortController()
  /** threads that have not ended, including those that are starting */
  readonly #threads = new Set<RpcThread>()
  #listen: RpcThreadsOptions['listen']
  #timer: Disposable | undefined
  #feed: Disposable | undefined
  #sentSync = ''
  #learningFrom: number | undefined
  readonly #readings: ThreadReadings
  /** undefined: the keys of the options */
  #apiKeys: readonly ApiKey[] | undefined
  urls: Urls = {}

  constructor(deps: RpcThreadsDeps, options: RpcThreadsOptions) {
    this.#deps = deps
    this.#options = options
    this.#seats = new Array<RpcThread | undefined>(options.count).fill(undefined)
    this.#readings = new ThreadReadings(deps)
    const { http, ws } = options.listen
    const shared = { reusePort: true } as const
    this.#listen = { ...(http && { http: { ...http, ...shared } }), ...(ws && { ws: { ...ws, ...shared } }) }
  }

  /**
   * Starts the first thread. The others start while the node is open already, as each start takes some 0.3 s of a core. If any free port will do, the first
   * thread decides which one all use.
   */
  async open(): Promise<void> {
    const { http, ws } = this.#listen
    if (http) await checkFree('http', http)
    if (ws) await checkFree('ws', ws)
    this.urls = await this.#seat(0)
    if (http?.port === 0 || ws?.port === 0) this.#listen = sharedPorts(this.#listen, this.urls)
    for (let number = 1; number < this.#seats.length; number++) void this.#trySeat(number, restartMs.first)
    this.#tellSync()
    this.#feed = this.#deps.filters.onPending((hash) => this.#tellOthers(hash))
  }

  problems(): readonly string[] {
    const ended = this.#seats.filter((seat) => seat === undefined).length
    return ended === this.#seats.length ? ['all RPC threads have ended and are being restarted'] : []
  }

  async metrics(): Promise<readonly MetricValues[]> {
    await this.#readings.read(this.#seats)
    return await this.#readings.all()
  }

  setApiKeys(keys: readonly ApiKey[]): void {
    this.#apiKeys = keys
    this.#listen = withKeys(this.#listen, keys)
    for (const { link } of this.#running()) link.tell('apiKeys', keys)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#timer?.[Symbol.dispose]()
    this.#feed?.[Symbol.dispose]()
    await Promise.all(Array.from(this.#threads, (thread) => thread[Symbol.asyncDispose]()))
  }

  #running(): RpcThread[] {
    return this.#seats.filter((seat) => seat !== undefined)
  }

  /** @throws the fault that kept the thread from starting */
  async #seat(number: number): Promise<Urls> {
    const { execution, sync, sequencer, peers } = this.#deps
    const {
      count: threads,
      config,
      version,
      memoryMaxBytes,
      cacheBytes,
      callTimeoutMs,
      pendingFallback,
      slowCallMs,
      hasPending = false,
    } = this.#options
    const common = {
      number,
      threads,
      config,
      version,
      memoryMaxBytes,
      cacheBytes,
      callTimeoutMs,
      pendingFallback,
      slowCallMs,
      hasPending,
      listen: this.#listen,
    }
    const settings: RpcWorkerSettings = {
      ...common,
      chain: execution.reader(),
      hasSequencer: sequencer !== undefined,
      hasPeers: peers !== undefined,
      sync: sync(),
      isTraced: this.#deps.tracing !== undefined,
    }
    const thread = startRpcThread(this.#threadDeps(number), settings)
    this.#threads.add(thread)
    void thread.gone.then(() => this.#threads.delete(thread))
    const urls = await thread.opened
    this.#seats[number] = thread
    this.#deps.metrics.threads.set({}, this.#running().length)
    thread.link.tell('sync', sync())
    if (this.#apiKeys) thread.link.tell('apiKeys', this.#apiKeys)
    void this.#watch(number, thread)
    return urls
  }

  #threadDeps(number: number): RpcThreadDeps {
    const { clock, log, readiness, sequencer, peers, tracing } = this.#deps
    const link = (): SequencerLink => {
      if (sequencer === undefined) throw new RangeError('no sequencer to forward transactions to')
      return sequencer
    }
    const answers: RpcThreadDeps['answers'] = {
      readiness,
      log: (line) => writeLine(log, line),
      passOn: (to, call) => this.#passOn(to, call),
      pending: (hash) => this.#learn(number, hash),
      send: (raw, condition) => link().send(raw, condition),
      forwarded: (hash) => link().forwarded(hash),
      status: (hash) => link().status(hash),
      slow: (call) => tracing?.slow(call),
      announced: (block, endMs) => tracing?.announced(block, `rpc-${number}`, endMs),
      peers: answerPeers(peers),
    }
    const onFailure = (error: unknown): void => log.error('message of an RPC thread failed', { thread: number, error })
    return { clock, answers, onFailure }
  }

  /** Notifies the main thread's filters of a thread's new transaction; their feed notifies the other threads. */
  #learn(from: number, hash: Hash): void {
    this.#learningFrom = from
    this.#deps.filters.notePending(hash)
    this.#learningFrom = undefined
  }

  #tellOthers(hash: Hash): void {
    for (const [i, seat] of this.#seats.entries()) if (i !== this.#learningFrom) seat?.link.tell('pending', hash)
  }

  /** Passes a call to the thread of its filter. The filters of an ended thread are gone. */
  async #passOn(to: number, call: PassedCall): Promise<PassedAnswer> {
    const seat = this.#seats[to]
    if (seat) return await seat.link.ask('passed', call)
    const { code, message } = filterNotFound()
    return { kind: 'error', code, message }
  }

  async #watch(number: number, thread: RpcThread): Promise<void> {
    const { clock } = this.#deps
    using _watchdog = startWatchdog(
      clock,
      () => thread.link.ask('alive'),
      () => thread.end(new Error('stuck: no answer for ten seconds')),
    )
    const error = await thread.gone
    this.#seats[number] = undefined
    this.#deps.metrics.threads.set({}, this.#running().length)
    if (this.#closing.signal.aborted) return
    this.#deps.metrics.ends.inc({})
    this.#readings.end(number)
    this.#deps.log.error('RPC thread ended, replacing it', { thread: number, error })
    void this.#replace(number, restartMs.first)
  }

  async #replace(number: number, afterMs: number): Promise<void> {
    const { promise: rested, resolve } = Promise.withResolvers<void>()
    using _timer = this.#deps.clock.after(afterMs, resolve)
    const { signal } = this.#closing
    signal.addEventListener('abort', () => resolve(), { once: true })
    await rested
    if (!signal.aborted) await this.#trySeat(number, Math.min(2 * afterMs, restartMs.most))
  }

  /** Starts a thread. @param againMs delay before another attempt */
  async #trySeat(number: number, againMs: number): Promise<void> {
    try {
      await this.#seat(number)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#deps.log.error('RPC thread not started, retrying', { thread: number, error })
      void this.#replace(number, againMs)
    }
  }

  #tellSync(): void {
    const { clock, sync } = this.#deps
    const progress = sync()
    const text = JSON.stringify(progress) ?? ''
    if (text !== this.#sentSync) for (const { link } of this.#running()) link.tell('sync', progress)
    this.#sentSync = text
    this.#timer = clock.after(syncEveryMs, () => this.#tellSync())
  }
}

/**
 * Starts threads that answer JSON-RPC over HTTP and WebSocket by the chain of an execution thread.
 * @returns once the first one listens
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function startRpcThreads(deps: RpcThreadsDeps, options: RpcThreadsOptions): Promise<RpcThreads> {
  const threads = new Threads(deps, options)
  try {
    await threads.open()
    return threads
  } catch (error) {
    await threads[Symbol.asyncDispose]()
    throw error
  }
}
