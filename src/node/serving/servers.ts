import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { type MemoryGuard, unboundedMemory } from '#lib/memoryGuard'
import type {
  AdminContext,
  CallContext,
  CancellationToken,
  EthContext,
  OperatorContext,
  RollupContext,
  SocketContext,
  Subscriptions,
} from '#rpc/context'
import { createGates, type Gates } from '#rpc/limits/gates'
import { type ApiKey, createRateLimiter, type RateLimiter, type RateLimitOptions } from '#rpc/limits/rateLimit'
import { adminRegistry, ethRegistry, ipcRegistry, lookupRegistry, rollupRegistry, socketRegistry, withNamespaces } from '#rpc/methods'
import type { RpcMetrics } from '#rpc/metrics'
import type { HeadFeed, Operator } from '#rpc/ports'
import { createRegistry, type Registry } from '#rpc/registry'
import { createEngineServer, type EngineServerDeps } from '#rpc/server/engineServer'
import type { Pages } from '#rpc/server/healthPages'
import { createRpcServer } from '#rpc/server/httpServer'
import { createIpcServer, type IpcServerOptions } from '#rpc/server/ipcServer'
import type { SlowCalls } from '#rpc/server/slowCalls'
import { createWsServer } from '#rpc/server/wsServer'
import { httpLimits, wsLimits } from '../memory/serverLimits.ts'

/** Address of a server; `port` 0: any free port. */
export type Listen = {
  readonly host: string
  readonly port: number
  /** accepted Host names besides addresses and localhost; default: none on a loopback address, any elsewhere */
  readonly hostNames?: readonly string[] | 'any'
  /** other threads listen on the port too */
  readonly reusePort?: true
}

export type PageListen = Listen & {
  /** origins of web pages that may call; `true`: any; absent: none */
  readonly cors?: true | readonly string[]
  /** served namespaces, the part of a method's name before the underscore; absent: all */
  readonly api?: readonly string[]
  /** absent: no limit */
  readonly rateLimit?: RateLimitOptions
}
/** `flag`: names the port in faults, if it is not the flag of the server's kind. */
export type HttpListen = PageListen & { readonly flag?: string }

/** `intervalMs`: between two flashblocks; `flag`: names the port in faults, if it is not the default flag. */
export type FlashblocksListen = Pick<Listen, 'host' | 'port'> & { readonly intervalMs: number; readonly flag?: string }

/** Servers of a node; an absent one is not started. */
export type ListenOptions = {
  readonly http?: HttpListen
  readonly ws?: HttpListen
  /** every method of the execution half, for processes that may open this file: those of the same user */
  readonly ipc?: { readonly path: string }
  /** the Engine API, for a consensus half in another process */
  readonly engine?: Listen
  readonly rollup?: Listen
  readonly metrics?: Listen
  /** `/healthz` and `/readyz`, answered by their own thread */
  readonly health?: Listen
  /** flashblocks of blocks that are built here (not in consensus mode) */
  readonly flashblocks?: FlashblocksListen
}

export type Urls = Readonly<Partial<Record<keyof ListenOptions, string>>>

export type EthParts = {
  readonly context: Omit<EthContext, 'cancellation'>
  readonly heads: HeadFeed
  /** Routes calls to other threads by their parameters; absent: all methods run in this thread. */
  readonly route?: <Context>(registry: Registry<Context>) => Registry<Context>
  /** absent: no other half drives this one */
  readonly engine?: Pick<EngineServerDeps, 'api' | 'jwtSecret' | 'onRefused' | 'onCall'> & {
    readonly context: Omit<EthContext, 'cancellation'>
  }
}

/** Served parts of the consensus half; `admin` absent: no admin_* methods. */
export type RollupParts = Omit<RollupContext, 'cancellation'> & { readonly admin?: Pick<AdminContext, 'admin' | 'operator'> }

/** Memory of the process, and the bytes of it for answers and requests of this thread. */
export type ServersMemory = { readonly guard: MemoryGuard; readonly answerBytes: number }

export type ServersDeps = {
  readonly log: Log
  readonly clock: Clock
  readonly metrics: RpcMetrics
  /** absent: not bounded */
  readonly memory?: ServersMemory
  /** absent: slow calls are not reported */
  readonly slow?: SlowCalls | undefined
  readonly eth: EthParts | undefined
  readonly rollup: RollupParts | undefined
  /** absent: the methods of the operator are not served */
  readonly operator?: Operator | undefined
  readonly health: Pages
  readonly metricsPages: Pages
  /** pages of the local page, on the metrics port; absent: it is not served */
  readonly localPages?: Pages | undefined
}

type Served = AsyncDisposable & { readonly url: string }

/** The running servers. Disposing closes all of them at once. */
export interface Servers extends AsyncDisposable {
  readonly urls: Urls
  /** Replaces the API keys of every rate limit. */
  setApiKeys(keys: readonly ApiKey[]): void
}

type Open = (name: keyof ListenOptions, start: Promise<Served>) => Promise<void>
type Common = {
  readonly log: Log
  readonly clock: Clock
  readonly metrics: RpcMetrics
  readonly memory: MemoryGuard
  readonly slow: SlowCalls | undefined
  readonly gates?: Gates
}
type LimiterOf = (options: RateLimitOptions | undefined) => RateLimiter | undefined

const unbounded: ServersMemory = { guard: unboundedMemory, answerBytes: Number.POSITIVE_INFINITY }

const unrouted = <Context>(registry: Registry<Context>): Registry<Context> => registry

async function openEth(
  open: Open,
  common: Common,
  limiterOf: LimiterOf,
  { eth, health, operator, memory: { answerBytes } = unbounded }: ServersDeps,
  listen: ListenOptions,
): Promise<void> {
  if (eth === undefined) return
  const { context, heads, engine, route = unrouted } = eth
  const socketContextOf = (cancellation: CancellationToken, subscriptions: Subscriptions): SocketContext => ({
    ...context,
    cancellation,
    subscriptions,
  })
  const sockets = { ...common, contextOf: socketContextOf, heads, pending: context.filters, subscriptionBudget: context.filters.budget }
  function openIpc(control: Operator | undefined, options: IpcServerOptions): Promise<Served> {
    if (control === undefined) return createIpcServer({ ...sockets, registry: route(socketRegistry) }, options)
    const contextOf = (cancellation: CancellationToken, subscriptions: Subscriptions): SocketContext & OperatorContext => ({
      ...socketContextOf(cancellation, subscriptions),
      operator: control,
    })
    return createIpcServer({ ...sockets, contextOf, registry: route(ipcRegistry) }, options)
  }
  if (listen.http) {
    const contextOf = (cancellation: CancellationToken): EthContext => ({ ...context, cancellation })
    const { cors, api = 'all', rateLimit, flag = 'http.port', ...at } = listen.http
    const options = { ...at, ...(cors && { cors: cors === true ? ('*' as const) : cors }), flag, limits: httpLimits(answerBytes) }
    const registry = route(withNamespaces(ethRegistry, api))
    const deps = { ...common, pages: health, registry, contextOf, limiter: limiterOf(rateLimit) }
    await open('http', createRpcServer(deps, options))
  }
  if (listen.ws) {
    const { cors, api = 'all', rateLimit, ...at } = listen.ws
    const options = {
      ...at,
      ...(cors && { origins: cors === true ? ('any' as const) : cors }),
      flag: at.flag ?? 'ws.port',
      limits: wsLimits(answerBytes),
    }
    const registry = route(withNamespaces(socketRegistry, api))
    await open('ws', createWsServer({ ...sockets, registry, limiter: limiterOf(rateLimit) }, options))
  }
  if (listen.ipc) {
    await open('ipc', openIpc(operator, { ...listen.ipc, flag: 'ipc.path' }))
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
    const contextOf = (cancellation: CancellationToken): AdminContext => ({ ...rollup, ...admin, cancellation })
    await open('rollup', createRpcServer({ ...common, pages, registry: adminRegistry, contextOf }, options))
  } else {
    const contextOf = (cancellation: CancellationToken): RollupContext => ({ ...rollup, cancellation })
    await open('rollup', createRpcServer({ ...common, pages, registry: rollupRegistry, contextOf }, options))
  }
}

/** Serves metrics and health, and with the local page its files and the methods that it calls. */
async function openMetrics(open: Open, common: Common, pages: Pages, { eth, localPages }: ServersDeps, listen: Listen): Promise<void> {
  const options = { ...listen, flag: 'metrics.port' }
  if (localPages && eth) {
    const contextOf = (cancellation: CancellationToken): EthContext => ({ ...eth.context, cancellation })
    const deps = { ...common, pages: new Map([...pages, ...localPages]), registry: lookupRegistry, contextOf }
    await open('metrics', createRpcServer(deps, options))
  } else {
    const contextOf = (cancellation: CancellationToken): CallContext => ({ cancellation })
    const deps = { ...common, pages: new Map([...pages, ...(localPages ?? [])]), registry: createRegistry<CallContext>(), contextOf }
    await open('metrics', createRpcServer(deps, options))
  }
}

/**
 * Starts the servers one after the other; when one cannot start, closes those already started.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function startServers(deps: ServersDeps, listen: ListenOptions): Promise<Servers> {
  const { log, clock, metrics, memory = unbounded, rollup, health, metricsPages, slow } = deps
  const pages = new Map([...health, ...metricsPages])
  await using starting = new AsyncDisposableStack()
  const servers: Served[] = []
  // closed together: each gives its callers seconds to finish
  starting.defer(async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))))
  const urls: Partial<Record<keyof ListenOptions, string>> = {}
  const open: Open = async (name, start) => {
    const server = await start
    servers.push(server)
    urls[name] = server.url
  }
  const common = { log, clock, metrics, memory: memory.guard, slow }
  const limiters: RateLimiter[] = []
  const limiterOf: LimiterOf = (options) => {
    const limiter = options && createRateLimiter(clock, options)
    if (limiter) limiters.push(limiter)
    return limiter
  }
  await openEth(open, { ...common, gates: createGates(memory.guard) }, limiterOf, deps, listen)
  if (listen.rollup && rollup) await openRollup(open, common, pages, rollup, listen.rollup)
  if (listen.metrics) await openMetrics(open, common, pages, deps, listen.metrics)
  const started = starting.move()
  return {
    urls,
    setApiKeys(keys): void {
      for (const limiter of limiters) limiter.setKeys(keys)
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
