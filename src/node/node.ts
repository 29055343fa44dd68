import { Registry } from 'prom-client'
import type { Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { SequencerControl } from '#consensus/sequencer'
import { type DriverStatus, type Progress, progressOf } from '#consensus/status'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { toHex } from '#lib/hex'
import type { P2pListening } from '#p2p/thread/protocol'
import type { LocalPage } from '#page/page'
import type { EthContext } from '#rpc/context'
import type { ApiKey } from '#rpc/limits/rateLimit'
import type { Operator } from '#rpc/ports'
import { watchAnchor } from './fill/anchorWatch.ts'
import { createHeadLog } from './health/headLog.ts'
import { createNodeMemory } from './memory/nodeMemory.ts'
import { createNodeMetrics } from './metrics/nodeMetrics.ts'
import type { NodeDeps } from './nodeDeps.ts'
import { checkOptions, type NodeOptions } from './nodeOptions.ts'
import { openHalves } from './parts/halves.ts'
import { createProfiles } from './profiling/profiles.ts'
import { createHeadFeed } from './serving/headFeed.ts'
import { openServing } from './serving/openServing.ts'
import { createPendingFeed } from './serving/pendingFeed.ts'
import type { Urls } from './serving/servers.ts'
import { createTracing } from './tracing/tracing.ts'

/** A running node. Disposing stops consensus, then the servers, then closes the stores. */
export interface Node extends AsyncDisposable {
  readonly urls: Urls
  /** the chain of this process; absent in consensus mode */
  readonly execution: Pick<ExecutionWorker, 'published' | 'view' | 'pool'> | undefined
  /** sources of subscriptions, and the chain for RPC methods, in this process; absent in consensus mode */
  readonly feeds: Omit<EthContext, 'cancellation'> | undefined
  /** absent: there is none (`hasPage`) */
  readonly page: LocalPage | undefined
  /** undefined: no block is built here */
  readonly sequencer: SequencerControl | undefined
  /** Returns where the node listens for peers; undefined: there are none, or their thread is started again. */
  peers(): P2pListening | undefined
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
  const { config } = options
  await using starting = new AsyncDisposableStack()
  const registry = new Registry()
  const meter = starting.use(createNodeMetrics({ registry, clock }, options))
  const log = meter.counting(deps.log)
  const memory = starting.use(createNodeMemory({ registry, clock }, options))
  const tracing = createTracing({ ...deps, registry, log }, options)
  if (tracing) starting.use(tracing)
  const parts = { ...deps, registry, log, memory, tracing }
  // replaced API keys stay: the heap may still have them
  const secrets = new Set(secretsOf(deps, options))
  const operator: Operator = {
    log: 'setModuleLevel' in deps.log ? deps.log : undefined,
    profiles: starting.use(createProfiles({ clock, log: log.child('profiles'), secrets }, options)),
  }
  const stop = new AbortController()

  const heads = createHeadFeed(() => {
    if (halves.execution === undefined) throw new RangeError('no execution half publishes heads')
    return halves.execution.execution.view()
  })
  const preconfirmed = createPendingFeed(config)
  const headLog = starting.use(createHeadLog({ clock, log: log.child('execution') }, { hasDerivation: options.l1 !== undefined }))
  const published: { publish(record: HeadRecord): void }[] = [heads, preconfirmed, headLog, ...(tracing ? [tracing] : [])]
  const onPublish = (record: HeadRecord): void => {
    for (const part of published) part.publish(record)
  }
  const halves = starting.use(await openHalves({ ...parts, onPublish }, options, stop.signal))
  const serving = starting.use(
    await openServing({ ...parts, operator, meter, heads, preconfirmed, stop: stop.signal }, halves, options, (flashblocks) => {
      published.push(flashblocks)
    }),
  )

  const { consensus } = halves
  const half = halves.execution
  const running = halves.run(stop.signal)
  const anchor = starting.use(
    watchAnchor(
      clock,
      () => half?.fill !== undefined && half.fill.status().phase !== 'whole',
      () => ({ follow: consensus?.follow?.status(), driver: consensus?.status() }),
    ),
  )
  const ends: readonly (Promise<never> | undefined)[] = [half?.execution.ended, anchor.lost, serving.failed]
  const stopped = Promise.race([running, ...ends.filter((end) => end !== undefined)])
  starting.defer(async () => {
    stop.abort()
    await running.catch(() => {})
    await stopped.catch(() => {})
  })
  const kept = starting.move()
  return {
    urls: serving.urls,
    execution: half?.execution,
    feeds: serving.context,
    page: serving.page,
    sequencer: consensus?.sequencer,
    peers: () => consensus?.p2p?.listening,
    status: () => consensus?.status(),
    progress: () => (consensus ? progressOf(config, consensus.status()) : noProgress(half?.execution)),
    problems: () => serving.problems(),
    setApiKeys(keys): void {
      for (const { key } of keys) secrets.add(key)
      serving.setApiKeys(keys)
    },
    executedGas: () => half?.executedGas() ?? 0n,
    stopped,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Returns the texts that no profile contains: those of the caller, the secret of the Engine API, and API keys. */
function secretsOf({ secrets = [] }: NodeDeps, { jwtSecret, listen }: NodeOptions): readonly string[] {
  const ofEngine = jwtSecret ? [toHex(jwtSecret()).slice(2)] : []
  const keys = [listen.http, listen.ws].flatMap((page) => page?.rateLimit?.keys ?? []).map(({ key }) => key)
  return [...secrets, ...ofEngine, ...keys]
}

/** Returns the progress of an execution half alone, which does not know the L1 head. */
function noProgress(execution: Pick<Execution, 'published'> | undefined): Progress {
  return { l1Block: undefined, l1Target: undefined, l2Block: execution?.published.heads.unsafe.number, l2Target: undefined }
}
