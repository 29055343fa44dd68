import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { AdminContext, CallContext, CancellationToken, EthContext, RollupContext, SocketContext, Subscriptions } from '#rpc/context'
import { createEngineServer, type EngineServerDeps } from '#rpc/engineServer'
import { createGates, type Gates } from '#rpc/gates'
import type { Pages } from '#rpc/healthPages'
import { createIpcServer } from '#rpc/ipcServer'
import { adminRegistry, ethRegistry, rollupRegistry, socketRegistry, withNamespaces } from '#rpc/methods'
import type { RpcMetrics } from '#rpc/metrics'
import type { HeadFeed } from '#rpc/ports'
import { type ApiKey, createRateLimiter, type RateLimiter, type RateLimitOptions } from '#rpc/rateLimit'
import { createRegistry, type Registry } from '#rpc/registry'
import { createRpcServer } from '#rpc/server'
import { createWsServer } from '#rpc/wsServer'

/** `port` 0: any free one. */
export type Listen = {
  readonly host: string
  readonly port: number
  /** names that the server may be called by besides addresses and localhost; default: none on a loopback address, any elsewhere */
  readonly hostNames?: readonly string[] | 'any'
  /** other threads listen there too */
  readonly reusePort?: true
}

export type PageListen = Listen & {
  /** web pages of any origin, or of these, may ask too; absent: none may */
  readonly cors?: true | readonly string[]
  /** the part of a method's name before the underscore, of those that are served; absent: all are */
  readonly api?: readonly string[]
  /** absent: each client may ask as much as it likes */
  readonly rateLimit?: RateLimitOptions
}
/** `flag`: names the port in faults when it is not that of the server's own kind. */
export type HttpListen = PageListen & { readonly flag?: string }

/** `intervalMs`: between two slices; `flag`: names the port in faults when it is not that of the server's own kind. */
export type FlashblocksListen = Pick<Listen, 'host' | 'port'> & { readonly intervalMs: number; readonly flag?: string }

/** What is absent is not served. */
export type ListenOptions = {
  readonly http?: HttpListen
  readonly ws?: HttpListen
  /** every method of the execution half, for whoever may open this file: the user of the process */
  readonly ipc?: { readonly path: string }
  /** the Engine API, for a consensus half elsewhere */
  readonly engine?: Listen
  readonly rollup?: Listen
  readonly metrics?: Listen
  /** `/healthz` and `/readyz`, answered by a thread of their own */
  readonly health?: Listen
  /** blocks that are built here, slice by slice (not in consensus mode) */
  readonly flashblocks?: FlashblocksListen
}

/** Where the node listens. */
export type Urls = Readonly<Partial<Record<keyof ListenOptions, string>>>

/** What is served of the execution half. */
export type EthParts = {
  readonly context: Omit<EthContext, 'cancellation'>
  readonly heads: HeadFeed
  /** Where methods run, by what they are asked; absent: in this thread. */
  readonly route?: <Context>(registry: Registry<Context>) => Registry<Context>
  /** absent: nobody else moves this half */
  readonly engine?: Pick<EngineServerDeps, 'api' | 'jwtSecret' | 'onRefused'> & { readonly context: Omit<EthContext, 'cancellation'> }
}

/** What is served of the consensus half; `admin` absent: no admin_*. */
export type RollupParts = Omit<RollupContext, 'cancellation'> & { readonly admin?: AdminContext['admin'] }

export type ServersDeps = {
  readonly log: Log
  readonly clock: Clock
  readonly metrics: RpcMetrics
  readonly eth: EthParts | undefined
  readonly rollup: RollupParts | undefined
  readonly health: Pages
  readonly metricsPages: Pages
}

type Served = AsyncDisposable & { readonly url: string }

/** What runs. Disposing of it closes all servers at once. */
export interface Servers extends AsyncDisposable {
  readonly urls: Urls
  /** From now on these are the keys, wherever there is a rate limit. */
  setApiKeys(keys: readonly ApiKey[]): void
}

type Open = (name: keyof ListenOptions, start: Promise<Served>) => Promise<void>
type Common = { readonly log: Log; readonly clock: Clock; readonly metrics: RpcMetrics; readonly gates?: Gates }
type LimiterOf = (options: RateLimitOptions | undefined) => RateLimiter | undefined

const unrouted = <Context>(registry: Registry<Context>): Registry<Context> => registry

async function openEth(
  open: Open,
  common: Common,
  limiterOf: LimiterOf,
  { eth, health }: ServersDeps,
  listen: ListenOptions,
): Promise<void> {
  if (eth === undefined) return
  const { context, heads, engine, route = unrouted } = eth
  const { budget: subscriptionBudget } = context.filters
  if (listen.http) {
    const contextOf = (cancellation: CancellationToken): EthContext => ({ ...context, cancellation })
    const { cors, api = 'all', rateLimit, flag = 'http.port', ...at } = listen.http
    const options = { ...at, ...(cors && { cors: cors === true ? ('*' as const) : cors }), flag }
    const registry = route(withNamespaces(ethRegistry, api))
    const deps = { ...common, pages: health, registry, contextOf, limiter: limiterOf(rateLimit) }
    await open('http', createRpcServer(deps, options))
  }
  if (listen.ws) {
    const contextOf = (cancellation: CancellationToken, subscriptions: Subscriptions): SocketContext => ({
      ...context,
      cancellation,
      subscriptions,
    })
    const { cors, api = 'all', rateLimit, ...at } = listen.ws
    const options = { ...at, ...(cors && { origins: cors === true ? ('any' as const) : cors }), flag: at.flag ?? 'ws.port' }
    const registry = route(withNamespaces(socketRegistry, api))
    const deps = { ...common, registry, contextOf, heads, limiter: limiterOf(rateLimit), pending: context.filters, subscriptionBudget }
    await open('ws', createWsServer(deps, options))
  }
  if (listen.ipc) {
    const contextOf = (cancellation: CancellationToken, subscriptions: Subscriptions): SocketContext => ({
      ...context,
      cancellation,
      subscriptions,
    })
    const ipc = { ...common, registry: route(socketRegistry), contextOf, heads, pending: context.filters, subscriptionBudget }
    await open('ipc', createIpcServer(ipc, { ...listen.ipc, flag: 'ipc.path' }))
  }
  if (listen.engine && engine) {
    const { context: reads, ...parts } = engine
    await open('engine', createEngineServer({ ...common, ...parts, eth: reads }, { ...listen.engine, flag: 'engine.port' }))
  }
}

async function openRollup(open: Open, common: Common, pages: Pages, parts: RollupParts, listen: Listen): Promise<void> {
  const { admin, ...rollup } = parts
  const options = { ...listen, flag: 'rollup.port' }
  if (admin) {
    const contextOf = (cancellation: CancellationToken): AdminContext => ({ ...rollup, admin, cancellation })
    await open('rollup', createRpcServer({ ...common, pages, registry: adminRegistry, contextOf }, options))
  } else {
    const contextOf = (cancellation: CancellationToken): RollupContext => ({ ...rollup, cancellation })
    await open('rollup', createRpcServer({ ...common, pages, registry: rollupRegistry, contextOf }, options))
  }
}

/**
 * Starts what is to be served, one server after the other; those already started are closed when one cannot.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function startServers(deps: ServersDeps, listen: ListenOptions): Promise<Servers> {
  const { log, clock, metrics, rollup, health, metricsPages } = deps
  const pages = new Map([...health, ...metricsPages])
  await using starting = new AsyncDisposableStack()
  const servers: Served[] = []
  // all at once: each gives its callers seconds
  starting.defer(async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))))
  const urls: Partial<Record<keyof ListenOptions, string>> = {}
  const open: Open = async (name, start) => {
    const server = await start
    servers.push(server)
    urls[name] = server.url
  }
  const common = { log, clock, metrics }
  const limiters: RateLimiter[] = []
  const limiterOf: LimiterOf = (options) => {
    const limiter = options && createRateLimiter(clock, options)
    if (limiter) limiters.push(limiter)
    return limiter
  }
  await openEth(open, { ...common, gates: createGates() }, limiterOf, deps, listen)
  if (listen.rollup && rollup) await openRollup(open, common, pages, rollup, listen.rollup)
  if (listen.metrics) {
    const contextOf = (cancellation: CancellationToken): CallContext => ({ cancellation })
    await open(
      'metrics',
      createRpcServer({ ...common, pages, registry: createRegistry(), contextOf }, { ...listen.metrics, flag: 'metrics.port' }),
    )
  }
  const started = starting.move()
  return {
    urls,
    setApiKeys(keys): void {
      for (const limiter of limiters) limiter.setKeys(keys)
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
