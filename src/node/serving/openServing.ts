import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { FollowStatus } from '#consensus/follow'
import type { DriverStatus } from '#consensus/status'
import type { Heads } from '#engine/port'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Clock } from '#lib/clock'
import { createLocalPage, type LocalPage, type PageSource } from '#page/page'
import type { EthContext } from '#rpc/context'
import type { ApiKey } from '#rpc/limits/rateLimit'
import { rpcMetrics } from '#rpc/metrics'
import type { PendingFeed } from '#rpc/pendingPorts'
import type { HeadFeed, Operator, Readiness } from '#rpc/ports'
import type { Registry } from '#rpc/registry'
import { healthPages, type Page } from '#rpc/server/healthPages'
import { createSlowLog, type SlowCall } from '#rpc/server/slowCalls'
import { fillText } from '../fill/fillPart.ts'
import { type EngineUse, type HealthSources, memoryProblems, problemsOf } from '../health/health.ts'
import { type HealthServer, startHealthServer } from '../health/healthServer.ts'
import type { NodeMemory } from '../memory/nodeMemory.ts'
import { answerBytesOf } from '../memory/serverLimits.ts'
import { createForecast } from '../metrics/forecast.ts'
import type { NodeMetricsMeter } from '../metrics/nodeMetrics.ts'
import { scrape } from '../metrics/scrape.ts'
import { forwardMetrics, rpcThreadsMetrics } from '../metrics.ts'
import type { PartDeps } from '../nodeDeps.ts'
import { hasPendingBlocks, type NodeOptions } from '../nodeOptions.ts'
import { createEngineSilence } from '../parts/engineSilence.ts'
import type { ExecutionHalf } from '../parts/executionHalf.ts'
import { type FlashblocksPart, openFlashblocks } from '../parts/flashblocksPart.ts'
import type { Halves } from '../parts/halves.ts'
import { isThreaded, type RpcThreads, startRpcThreads, withoutThreaded } from '../threads/rpcThreads.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { withCompletion } from './completedMethods.ts'
import { startServers, type Urls } from './servers.ts'
import { type EthServing, ethServing, rollupServing } from './serving.ts'

export type ServingDeps = PartDeps & {
  readonly memory: NodeMemory
  readonly operator: Operator
  readonly tracing?: Tracing | undefined
  readonly meter: NodeMetricsMeter
  readonly heads: HeadFeed
  readonly preconfirmed: PendingFeed
  /** absent: the server is started here */
  readonly health?: HealthServer | undefined
  /** ends posts of payloads */
  readonly stop: AbortSignal
}

/** The flashblocks and the servers of a node. Disposing closes them. */
export interface Serving extends AsyncDisposable {
  readonly urls: Urls
  /** absent in consensus mode */
  readonly context: Omit<EthContext, 'cancellation'> | undefined
  readonly flashblocks: FlashblocksPart
  /** absent: there is none */
  readonly page: LocalPage | undefined
  /** Rejects with a fatal fault in a call of the consensus half of another process; never resolves. undefined in consensus mode */
  readonly failed: Promise<never> | undefined
  /** Returns why the node is not ready, for the operator; empty: it is ready. */
  problems(): readonly string[]
  setApiKeys(keys: readonly ApiKey[]): void
}

function healthSourcesOf(clock: Clock, { execution, consensus, executionPeers, trust }: Halves, watch: EthServing['watch']): HealthSources {
  return {
    clock,
    status: (): DriverStatus | undefined => consensus?.status(),
    follow: (): FollowStatus | undefined => consensus?.follow?.status(),
    forks: (): readonly string[] => consensus?.forks.problems() ?? [],
    engineUse:
      watch &&
      ((): EngineUse => ({
        ...{ silentMs: watch.silentMs(), unansweredMs: watch.unansweredMs() },
        ...{ behind: watch.behind(), refused: watch.refused() },
      })),
    execution: execution?.execution,
    proofs: (): readonly string[] => execution?.proofsProblems() ?? [],
    peers: (): readonly string[] => [...(consensus?.p2p?.problems() ?? []), ...(executionPeers?.problems() ?? [])],
    trust: (): readonly string[] => trust?.problems() ?? [],
  }
}

/** Returns the execution that flashblocks are executed by. */
function followedOf({ execution }: ExecutionHalf, tracing: Tracing | undefined): Pick<ExecutionWorker, 'published' | 'pending'> {
  if (tracing === undefined) return execution
  const pending = tracing.pending(execution.pending)
  return {
    pending,
    get published(): HeadRecord {
      return execution.published
    },
  }
}

/** Starts the RPC threads; undefined when the main thread serves RPC itself. */
async function openThreads(
  { clock, log, registry, memory, tracing }: ServingDeps,
  { execution }: Halves,
  context: Serving['context'],
  readiness: () => Readiness,
  options: NodeOptions,
): Promise<RpcThreads | undefined> {
  if (execution === undefined || context === undefined || !isThreaded(options)) return undefined
  const { sequencer, filters, peers } = context
  const metrics = rpcThreadsMetrics.register(registry)
  return await startRpcThreads(
    {
      execution: execution.execution,
      clock,
      log,
      sync: () => context.chain.sync(),
      readiness,
      sequencer,
      peers,
      filters,
      metrics,
      tracing,
    },
    {
      ...options,
      hasPending: hasPendingBlocks(options),
      count: options.rpcThreads ?? 0,
      cacheBytes: memory.workerBytes,
      memoryMaxBytes: memory.guard.maxBytes,
    },
  )
}

/**
 * Opens what a node serves, over its halves.
 * @param onFlashblocks called with the flashblocks before any server starts: they need each published record
 * @throws Fault of the part that cannot start (all fatal)
 */
export async function openServing(
  deps: ServingDeps,
  halves: Halves,
  options: NodeOptions,
  onFlashblocks: (flashblocks: FlashblocksPart) => void,
): Promise<Serving> {
  const { clock, log, registry, meter, stop, memory } = deps
  const answerBytes = answerBytesOf(memory.guard.maxBytes, options.rpcThreads ?? 0)
  const { execution, consensus, engine } = halves
  await using opening = new AsyncDisposableStack()
  const silence = options.mode === 'execution' ? opening.use(createEngineSilence({ clock, log: log.child('engine') })) : undefined
  const shared = {
    ...deps,
    log: log.child('rpc'),
    consensus,
    executionPeers: halves.executionPeers,
    silence,
    forwarding: forwardMetrics.register(registry),
  }
  const eth =
    execution && opening.use(ethServing({ ...shared, execution: execution.execution, senders: () => execution.senders() }, options))
  const { context } = eth?.parts ?? {}
  const flashblocks = opening.use(
    openFlashblocks({ ...deps, execution: execution && followedOf(execution, deps.tracing), sync: () => context?.chain.sync() }, options),
  )
  onFlashblocks(flashblocks)

  const sources = healthSourcesOf(clock, halves, eth?.watch)
  const ownProblems = (): readonly string[] => [...problemsOf(sources, options), ...memoryProblems(memory.guard), ...flashblocks.problems()]
  const readinessWith = (reasons: readonly string[]): Readiness => ({
    problems: reasons,
    ...(execution?.fill && { state: fillText(execution.fill.status()) }),
  })
  const threads = opening.use(await openThreads(deps, halves, context, () => readinessWith(ownProblems()), options))
  const problems = (): readonly string[] => [...ownProblems(), ...(threads?.problems() ?? [])]
  const readiness = (): Readiness => readinessWith(problems())

  const forecast = opening.use(createForecast({ clock, registry, status: () => consensus?.status() }, options))
  const scrapeAll = async (): Promise<string> => {
    meter.collect({ status: consensus?.status(), heads: execution?.execution.published.heads, problems: problems() })
    forecast.collect()
    consensus?.waits.publish()
    memory.collect(execution?.execution.sizes().caches ?? {})
    execution?.collect()
    consensus?.p2p?.collect()
    flashblocks.collect()
    return await scrape(registry, (await threads?.metrics()) ?? [])
  }
  const metricsPage = async (): Promise<Page> => ({ status: 200, text: await scrapeAll() })
  const pageSource: PageSource = {
    ...{ clock, scrape: scrapeAll, problems, version: options.version, chainId: options.config.l2ChainId, feeds: context },
    heads: consensus ? undefined : (): Heads | undefined => execution?.execution.published.heads,
    isSyncing: () => context && context.chain.sync() !== undefined,
  }
  const page = options.hasPage
    ? opening.use(createLocalPage(pageSource, (error) => log.warn('sample for the local page failed', { error })))
    : undefined
  const parts = {
    eth: eth && {
      ...eth.parts,
      route: <Context>(registry: Registry<Context>): Registry<Context> =>
        withCompletion(registry, clock, async (wanted, withinMs) => execution?.execution.complete(wanted, withinMs)),
    },
    rollup:
      consensus && rollupServing({ engine, consensus, trust: halves.trust, problems, operator: deps.operator, signal: stop }, options),
    operator: deps.operator,
    health: healthPages({ readiness }, options.version),
    metricsPages: new Map([['/metrics', metricsPage]]),
    localPages: page?.pages(),
  }
  const { slowCallMs } = options
  const onSlow = deps.tracing && ((call: SlowCall): void => deps.tracing?.slow({ ...call, endMs: clock.nowMs() }))
  const slow = slowCallMs === undefined ? undefined : createSlowLog({ clock, log: log.child('rpc'), onSlow }, slowCallMs)
  const listen = threads ? withoutThreaded(options.listen) : options.listen
  const servers = opening.use(
    await startServers(
      {
        ...parts,
        log: log.child('rpc'),
        clock,
        metrics: rpcMetrics.register(registry),
        memory: { guard: memory.guard, answerBytes },
        slow,
      },
      listen,
    ),
  )
  const {
    version,
    listen: { health: healthListen },
  } = options
  const healthDeps = { clock, log: log.child('health'), readiness }
  const health = healthListen && opening.use(deps.health ?? (await startHealthServer(healthDeps, { listen: healthListen, version })))
  deps.health?.show(readiness)
  const kept = opening.move()
  return {
    urls: { ...execution?.urls, ...servers.urls, ...threads?.urls, ...(health && { health: health.url }) },
    context,
    flashblocks,
    page,
    failed: eth?.failed,
    problems,
    setApiKeys(keys): void {
      servers.setApiKeys(keys)
      threads?.setApiKeys(keys)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
