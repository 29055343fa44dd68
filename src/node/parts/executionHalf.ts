import { join } from 'node:path'
import type { Registry } from 'prom-client'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { type ExecutionWorker, type ExecutionWorkerOptions, startExecutionWorker } from '#executionThread/executionThread'
import { abandonedKinds, executionMetrics, measurePool } from '#executionThread/metrics'
import { publisherMetrics } from '#flashblocks/metrics'
import { createPublisher, type Publisher } from '#flashblocks/publisher'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Supervisor } from '#lib/supervisor'
import type { TxPoolFacts } from '#txpool/txPool'
import type { FlashblocksOptions } from '../nodeOptions.ts'
import type { FlashblocksListen, ListenOptions, Urls } from '../serving/servers.ts'

export type ExecutionHalfDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly registry: Registry
  /** watches the execution thread; absent: it is not watched */
  readonly supervisor?: Supervisor
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Called with each record right after it can be read. */
  readonly onPublish?: (record: HeadRecord) => void
}

export type ExecutionHalfOptions = {
  readonly config: RollupConfig
  readonly genesis: () => Genesis
  readonly datadir: string
  readonly minFreeBytes: number
  readonly maxPayloadMs?: number
  readonly flashblocks?: Pick<FlashblocksOptions, 'maxTimeMs'>
  readonly listen: Pick<ListenOptions, 'flashblocks'>
}

/** The execution half of this process. */
export interface ExecutionHalf extends AsyncDisposable {
  readonly execution: ExecutionWorker
  /** where flashblocks of local blocks are published */
  readonly urls: Pick<Urls, 'flashblocks'>
  /** gas of all blocks executed since the start */
  executedGas(): bigint
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

function boundsOf({
  config,
  minFreeBytes,
  maxPayloadMs,
  flashblocks,
}: ExecutionHalfOptions): Pick<ExecutionWorkerOptions, 'minFreeBytes' | 'maxPayloadMs' | 'maxPendingMs'> {
  return {
    minFreeBytes,
    ...(maxPayloadMs !== undefined && { maxPayloadMs: maxPayloadMs || Number.POSITIVE_INFINITY }),
    maxPendingMs: flashblocks?.maxTimeMs ?? 2_000 * config.blockTimeSec,
  }
}

/** @throws Fault PORT_IN_USE, LISTEN_FAILED, of the store, WRONG_GENESIS, GENESIS_MISMATCH, EXECUTION_STOPPED (fatal) */
export async function openExecutionHalf(deps: ExecutionHalfDeps, options: ExecutionHalfOptions): Promise<ExecutionHalf> {
  const { registry } = deps
  const { config, genesis, datadir, listen } = options
  await using starting = new AsyncDisposableStack()
  const publisher = listen.flashblocks && starting.use(await openPublisher(deps, listen.flashblocks))
  const executed = executionMetrics.register(registry)
  let executedGas = 0n
  const worker = await startExecutionWorker(
    {
      ...deps,
      genesis,
      onFlashblock: (flashblock) => publisher?.publish(flashblock),
      onExecuted({ number, gasUsed, transactions, ms }): void {
        executedGas += gasUsed
        executed.blocks.inc({})
        executed.gas.inc({}, Number(gasUsed))
        executed.milliseconds.inc({}, ms)
        executed.transactions.inc({}, transactions)
        executed.lastBlock.set({}, number)
      },
    },
    {
      ...{ dir: join(datadir, 'chain'), config },
      ...boundsOf(options),
      ...(listen.flashblocks && { flashblockMs: listen.flashblocks.intervalMs }),
    },
  )
  const execution = starting.use(worker)
  let poolBefore: TxPoolFacts | undefined
  let reusedBefore = 0
  let abandonedBefore = execution.abandonedCounts()
  function collect(): void {
    const { journalBytes, treeBytes, overlayBlocks, reused, pool } = execution.sizes()
    executed.reused.inc({}, reused - reusedBefore)
    reusedBefore = reused
    executed.journal.set({}, journalBytes)
    executed.tree.set({}, treeBytes)
    executed.overlays.set({}, overlayBlocks)
    executed.running.set({}, (execution.running()?.forMs ?? 0) / 1_000)
    const abandoned = execution.abandonedCounts()
    for (const what of abandonedKinds) executed.abandoned.inc({ what }, abandoned[what] - abandonedBefore[what])
    abandonedBefore = abandoned
    if (pool) measurePool(executed, pool, poolBefore)
    poolBefore = pool
  }
  const urls = publisher ? { flashblocks: publisher.url } : {}
  const kept = starting.move()
  return { execution, urls, collect, executedGas: () => executedGas, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const openPublisher = ({ clock, log, registry }: ExecutionHalfDeps, listen: FlashblocksListen): Promise<Publisher> =>
  createPublisher({ clock, log: log.child('flashblocks'), metrics: publisherMetrics.register(registry) }, listen)
