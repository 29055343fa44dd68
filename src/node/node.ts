import { Registry } from 'prom-client'
import type { Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { FollowStatus } from '#consensus/follow'
import type { SequencerControl } from '#consensus/sequencer'
import { type DriverStatus, type Progress, progressOf } from '#consensus/status'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Clock } from '#lib/clock'
import type { KzgThread } from '#lib/kzgThread'
import type { Log, RootLog } from '#lib/log'
import type { Random } from '#lib/retry'
import type { Supervisor } from '#lib/supervisor'
import type { EthContext } from '#rpc/context'
import { healthPages, type Page } from '#rpc/healthPages'
import { rpcMetrics } from '#rpc/metrics'
import type { ApiKey } from '#rpc/rateLimit'
import { createHeadLog } from './health/headLog.ts'
import { type EngineUse, problemsOf } from './health/health.ts'
import { openHealthServer } from './health/healthServer.ts'
import { createNodeMetrics } from './metrics/nodeMetrics.ts'
import { scrape } from './metrics/scrape.ts'
import { forwardMetrics, rpcThreadsMetrics } from './metrics.ts'
import { checkOptions, endpointOf, hasPendingBlocks, type NodeOptions } from './nodeOptions.ts'
import { openConsensusHalf } from './parts/consensusHalf.ts'
import { createEngineSilence } from './parts/engineSilence.ts'
import { openExecutionHalf } from './parts/executionHalf.ts'
import { noFlashblocks, openFlashblocks } from './parts/flashblocksPart.ts'
import { openRemoteEngine, runApart } from './parts/remoteEngine.ts'
import { createHeadFeed } from './serving/headFeed.ts'
import { createPendingFeed } from './serving/pendingFeed.ts'
import { startServers, type Urls } from './serving/servers.ts'
import { ethServing, rollupServing } from './serving/serving.ts'
import { isThreaded, startRpcThreads, withoutThreaded } from './threads/rpcThreads.ts'

export type NodeDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  /** admin_setLogLevel can change the level of a RootLog */
  readonly log: Log | RootLog
  /** watches the execution thread; absent: it is not watched */
  readonly supervisor?: Supervisor
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** thread that checks blobs for several nodes; absent: the node starts its own */
  readonly kzg?: KzgThread
}

/** A running node. Disposing stops consensus, then the servers, then closes the stores. */
export interface Node extends AsyncDisposable {
  readonly urls: Urls
  /** the chain of this process; absent in consensus mode */
  readonly execution: Pick<ExecutionWorker, 'published' | 'view' | 'pool'> | undefined
  /** sources of subscriptions in this process; absent in consensus mode */
  readonly feeds: Pick<EthContext, 'heads' | 'filters' | 'preconfirmed'> | undefined
  /** undefined: no block is built here */
  readonly sequencer: SequencerControl | undefined
  /** undefined in execution mode */
  status(): DriverStatus | undefined
  progress(): Progress
  /** Returns why the node is not ready, for the operator; empty: it is ready. */
  problems(): readonly string[]
  /** Replaces the API keys of the rate limits; has no effect without limits. */
  setApiKeys(keys: readonly ApiKey[]): void
  /** gas of all blocks executed in this process since the start */
  executedGas(): bigint
  /** Resolves when consensus ends. Rejects with the fault that stopped the node, if a running node cannot report it itself. */
  readonly stopped: Promise<void>
}

/**
 * Puts a node together and starts it: execution, consensus, servers, in this order. When a part fails, the parts before it are closed in reverse order.
 * @throws Fault of the part that cannot start (all fatal)
 */
export async function startNode(deps: NodeDeps, options: NodeOptions): Promise<Node> {
  checkOptions(options)
  const { clock } = deps
  const { config, mode, version } = options
  await using starting = new AsyncDisposableStack()
  const registry = new Registry()
  const meter = starting.use(createNodeMetrics({ registry, clock }, options))
  const parts = { ...deps, registry, log: meter.counting(deps.log) }
  const { log } = parts
  const stop = new AbortController()

  const heads = createHeadFeed()
  const preconfirmed = createPendingFeed(config)
  const headLog = starting.use(createHeadLog({ clock, log: log.child('execution') }, { hasDerivation: options.l1 !== undefined }))
  let flashblocks = noFlashblocks
  const onPublish = (record: HeadRecord): void => {
    heads.publish(record)
    preconfirmed.publish(record)
    headLog.publish(record)
    flashblocks.publish(record)
  }
  const half = mode === 'consensus' ? undefined : starting.use(await openExecutionHalf({ ...parts, onPublish }, options))
  const endpoint = endpointOf(options)
  const remote = endpoint && openRemoteEngine(parts, endpoint, config, stop.signal)
  const engine = half?.execution ?? remote
  if (engine === undefined) throw new RangeError('a node without an execution half')
  const consensus =
    mode === 'execution'
      ? undefined
      : starting.use(await openConsensusHalf({ ...parts, engine }, { ...options, ...(endpoint && { endpoint }) }))

  const silence = mode === 'execution' ? starting.use(createEngineSilence({ clock, log: log.child('engine') })) : undefined
  const eth =
    half &&
    starting.use(
      ethServing(
        {
          ...deps,
          execution: half.execution,
          consensus,
          log: log.child('rpc'),
          heads,
          preconfirmed,
          silence,
          forwarding: forwardMetrics.register(registry),
        },
        options,
      ),
    )
  const watch = consensus ? undefined : eth?.watch
  const status = (): DriverStatus | undefined => consensus?.status()
  const healthSources = {
    clock,
    status,
    follow: (): FollowStatus | undefined => consensus?.follow?.status(),
    engineUse: watch && ((): EngineUse => ({ silentMs: watch.silentMs(), behind: watch.behind() })),
    execution: half?.execution,
  }
  const ownProblems = (): readonly string[] => [...problemsOf(healthSources, options), ...flashblocks.problems()]
  const { context } = eth?.parts ?? {}
  flashblocks = starting.use(openFlashblocks({ ...parts, execution: half?.execution, sync: () => context?.chain.sync() }, options))
  const threads =
    half && context && isThreaded(options)
      ? starting.use(
          await startRpcThreads(
            {
              execution: half.execution,
              clock,
              log,
              sync: () => context.chain.sync(),
              problems: ownProblems,
              sequencer: context.sequencer,
              filters: context.filters,
              metrics: rpcThreadsMetrics.register(registry),
            },
            { ...options, hasPending: hasPendingBlocks(options), count: options.rpcThreads ?? 0 },
          ),
        )
      : undefined
  const problems = (): readonly string[] => [...ownProblems(), ...(threads?.problems() ?? [])]
  const servers = starting.use(
    await startServers(
      {
        log: log.child('rpc'),
        clock,
        metrics: rpcMetrics.register(registry),
        eth: eth?.parts,
        rollup: consensus && rollupServing({ engine, consensus, problems, log: deps.log, signal: stop.signal }, options),
        health: healthPages({ readiness: () => ({ problems: problems() }) }, version),
        metricsPages: new Map([['/metrics', metricsPage]]),
      },
      threads ? withoutThreaded(options.listen) : options.listen,
    ),
  )
  const health = starting.use(await openHealthServer({ clock, log: log.child('health'), problems }, options))
  async function metricsPage(): Promise<Page> {
    meter.collect({ status: status(), heads: half?.execution.published.heads })
    consensus?.waits.publish()
    half?.collect()
    flashblocks.collect()
    return { status: 200, text: await scrape(registry, (await threads?.metrics()) ?? []) }
  }

  const running = consensus ? (remote ? runApart(parts, remote, consensus, stop.signal) : consensus.run(stop.signal)) : aborted(stop.signal)
  const stopped = half ? Promise.race([running, half.execution.ended]) : running
  starting.defer(async () => {
    stop.abort()
    await running.catch(() => {})
    await stopped.catch(() => {})
  })
  const kept = starting.move()
  return {
    urls: { ...half?.urls, ...servers.urls, ...threads?.urls, ...health.urls },
    execution: half?.execution,
    feeds: context,
    sequencer: consensus?.sequencer,
    status,
    progress: () => (consensus ? progressOf(config, consensus.status()) : noProgress(half?.execution)),
    problems,
    setApiKeys(keys): void {
      servers.setApiKeys(keys)
      threads?.setApiKeys(keys)
    },
    executedGas: () => half?.executedGas() ?? 0n,
    stopped,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Returns the progress of an execution half alone, which does not know the L1 head. */
function noProgress(execution: Pick<Execution, 'published'> | undefined): Progress {
  return { l1Block: undefined, l1Target: undefined, l2Block: execution?.published.heads.unsafe.number, l2Target: undefined }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
