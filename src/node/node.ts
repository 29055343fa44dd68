import { join } from 'node:path'
import { Registry } from 'prom-client'
import type { Genesis } from '#chain/genesis'
import type { RollupConfig } from '#chain/rollupConfig'
import { createDriver, type Driver, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { type DriverStatus, type Progress, progressOf } from '#consensus/status'
import { createPipeline } from '#derive/pipeline'
import { createReferenceEvm } from '#evm/referenceEvm'
import type { ExecutedBlock } from '#execution/executedBlock'
import { createExecution, type Execution } from '#execution/execution'
import { executionMetrics } from '#execution/metrics'
import { createL1Source, defaultL1Options } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import { healthPages, type Page } from '#rpc/healthPages'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import { createRpcServer } from '#rpc/server'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema, consensusSchema } from '#store/schema'
import { consensusTables, tables } from '#store/tables'
import { createEthContext } from './ethContext.ts'
import { createRollupNode } from './rollupNode.ts'
import { safeHeadTable } from './safeHeadTable.ts'
import { syncProgressOf } from './syncing.ts'

export type NodeDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
}

export type NodeOptions = {
  readonly config: RollupConfig
  /** Read only when the data directory is empty. */
  readonly genesis: () => Genesis
  readonly datadir: string
  readonly l1RpcUrls: readonly string[]
  readonly l1BeaconUrls: readonly string[]
  readonly l1PollMs: number
  /** on 127.0.0.1; 0: any free one */
  readonly httpPort: number
  readonly rollupPort: number
  readonly version: string
}

/** Safe and finalized move once in minutes: they are asked for at every so many polls of the head. */
const labelPolls = 4

/** A running node. Disposing of it stops derivation, then the servers, then closes the stores. */
export interface Node extends AsyncDisposable {
  readonly httpUrl: string
  readonly rollupUrl: string
  readonly execution: Execution
  status(): DriverStatus
  progress(): Progress
  /** of all blocks executed since the start */
  executedGas(): bigint
  /** Ends when derivation does: rejects with the fault that stopped it, if it was one that a running node cannot report by itself. */
  readonly stopped: Promise<void>
}

/** Derivation that a fork stopped leaves a node that serves what it has, not ready; any other fatal fault ends it. */
async function runDriver(driver: Driver, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await driver.run(signal)
  } catch (error) {
    if (!isFault(error, 'UNSUPPORTED_FORK')) throw error
    log.error(error.message, { code: error.code, fix: error.fix })
  }
}

/**
 * Puts a node together and starts it: stores, execution, L1, derivation, servers, in this order; what was started is closed in reverse when a
 * later part fails.
 * @throws Fault of the part that cannot start (all fatal)
 */
export async function startNode(deps: NodeDeps, options: NodeOptions): Promise<Node> {
  const { clock, random, log } = deps
  const { config, datadir, version } = options
  await using starting = new AsyncDisposableStack()
  const registry = new Registry()

  const chainKv = starting.use(openLmdbKv(join(datadir, 'chain'), Object.values(tables)))
  const consensusKv = starting.use(openLmdbKv(join(datadir, 'consensus'), Object.values(consensusTables)))
  agreeOnSchema(chainKv, chainSchema)
  agreeOnSchema(consensusKv, consensusSchema)
  const evm = createReferenceEvm()
  const executed = executionMetrics.register(registry)
  let executedGas = 0n
  const onExecuted = ({ header, transactions }: ExecutedBlock, ms: number): void => {
    executedGas += header.gasUsed
    executed.blocks.inc({})
    executed.gas.inc({}, Number(header.gasUsed))
    executed.milliseconds.inc({}, ms)
    executed.transactions.inc({}, transactions.length)
    executed.lastBlock.set({}, header.number)
  }
  const { genesis } = options
  const execution = createExecution({ ...deps, kv: chainKv, evm, config, genesis, log: log.child('execution'), onExecuted })

  const l1Urls = { rpcUrls: options.l1RpcUrls, beaconUrls: options.l1BeaconUrls, chainId: config.l1ChainId }
  const l1Deps = { ...deps, log: log.child('l1'), metrics: l1Metrics.register(registry) }
  const l1 = starting.use(createL1Source(l1Deps, { ...defaultL1Options, ...l1Urls }))
  const store = createSafeHeadStore(safeHeadTable(consensusKv, consensusTables.safeHeads.id))
  const driver = createDriver(
    {
      engine: execution,
      createPipeline: (start) => createPipeline(config, start, log.child('derive')),
      l1,
      store,
      clock,
      random,
      log: log.child('consensus'),
      metrics: consensusMetrics.register(registry),
    },
    { ...defaultDriverOptions, config, headPollMs: options.l1PollMs, labelPollMs: labelPolls * options.l1PollMs },
  )

  const progress = (): Progress => progressOf(config, driver.status())
  const first = execution.published.heads.unsafe.number
  const clientVersion = `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`
  const eth = createEthContext({ execution, evm, config, clientVersion, sync: () => syncProgressOf(progress(), first) })
  const rollup = createRollupNode({ config, driver, execution, store, clock })
  const health = healthPages(rollup, version)
  const metrics = async (): Promise<Page> => ({ status: 200, text: await registry.metrics() })
  const serverDeps = { log: log.child('rpc'), clock }
  const http = starting.use(
    await createRpcServer(
      { ...serverDeps, pages: health, registry: ethRegistry, contextOf: (ticket) => ({ ...eth, ticket }) },
      { host: '127.0.0.1', port: options.httpPort, flag: 'http.port' },
    ),
  )
  const rollupHttp = starting.use(
    await createRpcServer(
      {
        ...serverDeps,
        pages: new Map([...health, ['/metrics', metrics]]),
        registry: rollupRegistry,
        contextOf: (ticket) => ({ rollup, version: `v${version}`, ticket }),
      },
      { host: '127.0.0.1', port: options.rollupPort, flag: 'rollup.port' },
    ),
  )

  const stop = new AbortController()
  const stopped = runDriver(driver, log, stop.signal)
  starting.defer(async () => {
    stop.abort()
    await stopped.catch(() => {})
  })
  const parts = starting.move()
  return {
    httpUrl: http.url,
    rollupUrl: rollupHttp.url,
    execution,
    status: () => driver.status(),
    progress,
    executedGas: () => executedGas,
    stopped,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
