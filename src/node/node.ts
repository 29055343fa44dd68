import { Registry } from 'prom-client'
import { type DriverStatus, type Progress, progressOf } from '#consensus/status'
import { createReferenceEvm } from '#evm/referenceEvm'
import type { Execution } from '#execution/execution'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import { healthPages, type Page } from '#rpc/healthPages'
import type { SyncProgress } from '#rpc/ports'
import { openConsensusHalf } from './consensusHalf.ts'
import { createEthContext } from './ethContext.ts'
import { openExecutionHalf } from './executionHalf.ts'
import { nodeFault } from './faults.ts'
import { checkOptions, type NodeOptions } from './nodeOptions.ts'
import { createRollupNode } from './rollupNode.ts'
import { startServers, type Urls } from './servers.ts'
import { syncProgressOf } from './syncing.ts'

export type NodeDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
}

/** A running node. Disposing of it stops consensus, then the servers, then closes the stores. */
export interface Node extends AsyncDisposable {
  readonly urls: Urls
  /** the chain as this process has it; not in consensus mode */
  readonly execution: Pick<Execution, 'published' | 'view'> | undefined
  /** undefined in execution mode */
  status(): DriverStatus | undefined
  progress(): Progress
  /** of all blocks executed in this process since the start */
  executedGas(): bigint
  /** Ends when consensus does: rejects with the fault that stopped the node, if it was one that a running node cannot report by itself. */
  readonly stopped: Promise<void>
}

/**
 * Puts a node together and starts it: execution, consensus, servers, in this order; what was started is closed in reverse when a later part
 * fails.
 * @throws Fault of the part that cannot start (all fatal)
 */
export async function startNode(deps: NodeDeps, options: NodeOptions): Promise<Node> {
  checkOptions(options)
  const { clock, log } = deps
  const { config, version, l1 } = options
  if (l1 === undefined) throw nodeFault('OPTION_MISSING', { mode: options.mode, option: '--l1.rpc' })
  await using starting = new AsyncDisposableStack()
  const registry = new Registry()

  const half = starting.use(await openExecutionHalf({ ...deps, registry }, options))
  const { execution } = half
  const consensus = starting.use(await openConsensusHalf({ ...deps, engine: execution, registry }, { ...options, l1 }))
  const { driver, store } = consensus

  const progress = (): Progress => progressOf(config, driver.status())
  const first = execution.published.heads.unsafe.number
  const clientVersion = `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`
  const sync = (): SyncProgress | undefined => syncProgressOf(progress(), first)
  const rollup = createRollupNode({ config, driver, engine: execution, store, clock })
  const servers = starting.use(
    await startServers(
      {
        log: log.child('rpc'),
        clock,
        eth: createEthContext({ execution, evm: createReferenceEvm(), config, clientVersion, sync }),
        rollup: { rollup, version: `v${version}` },
        health: healthPages(rollup, version),
        metrics: new Map([['/metrics', async (): Promise<Page> => ({ status: 200, text: await registry.metrics() })]]),
      },
      options.listen,
    ),
  )

  const stop = new AbortController()
  const stopped = Promise.race([consensus.run(stop.signal), execution.ended])
  starting.defer(async () => {
    stop.abort()
    await stopped.catch(() => {})
  })
  const parts = starting.move()
  return {
    urls: servers.urls,
    execution,
    status: () => driver.status(),
    progress,
    executedGas: () => half.executedGas(),
    stopped,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
