import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { CallContext, EthContext, RollupContext, Ticket } from '#rpc/context'
import type { Pages } from '#rpc/healthPages'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import { createRegistry } from '#rpc/registry'
import { createRpcServer, type RpcServer } from '#rpc/server'

/** `port` 0: any free one. */
export type Listen = { readonly host: string; readonly port: number }

/** What is absent is not served. */
export type ListenOptions = {
  readonly http?: Listen
  readonly ws?: Listen
  /** the Engine API, for a consensus half elsewhere */
  readonly engine?: Listen
  readonly rollup?: Listen
  readonly metrics?: Listen
}

/** Where the node listens. */
export type Urls = Readonly<Partial<Record<keyof ListenOptions, string>>>

export type ServersDeps = {
  readonly log: Log
  readonly clock: Clock
  /** absent without an execution half: then there is nothing to serve on `http` */
  readonly eth?: Omit<EthContext, 'ticket'>
  /** absent without a consensus half */
  readonly rollup?: Omit<RollupContext, 'ticket'>
  readonly health: Pages
  readonly metrics: Pages
}

/**
 * Starts what is to be served, one server after the other; those already started are closed when one cannot.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function startServers(deps: ServersDeps, listen: ListenOptions): Promise<AsyncDisposable & { readonly urls: Urls }> {
  const { log, clock, eth, rollup, health, metrics } = deps
  const everyPage = new Map([...health, ...metrics])
  await using starting = new AsyncDisposableStack()
  const urls: Partial<Record<keyof ListenOptions, string>> = {}
  const open = async (name: keyof ListenOptions, start: Promise<RpcServer>): Promise<void> => {
    urls[name] = starting.use(await start).url
  }
  const common = { log, clock }
  if (listen.http && eth) {
    const contextOf: (ticket: Ticket) => EthContext = (ticket) => ({ ...eth, ticket })
    await open(
      'http',
      createRpcServer({ ...common, pages: health, registry: ethRegistry, contextOf }, { ...listen.http, flag: 'http.port' }),
    )
  }
  if (listen.rollup && rollup) {
    const contextOf: (ticket: Ticket) => RollupContext = (ticket) => ({ ...rollup, ticket })
    const deps = { ...common, pages: everyPage, registry: rollupRegistry, contextOf }
    await open('rollup', createRpcServer(deps, { ...listen.rollup, flag: 'rollup.port' }))
  }
  if (listen.metrics) {
    const deps = { ...common, pages: everyPage, registry: createRegistry(), contextOf: (ticket: Ticket): CallContext => ({ ticket }) }
    await open('metrics', createRpcServer(deps, { ...listen.metrics, flag: 'metrics.port' }))
  }
  const started = starting.move()
  return { urls, [Symbol.asyncDispose]: () => started.disposeAsync() }
}
