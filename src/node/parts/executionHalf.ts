import { join } from 'node:path'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { blockStages, type StageTimes } from '#blockchain/stageTimes'
import { type ExecutionWorker, startExecutionWorker } from '#executionThread/executionThread'
import { abandonedKinds, executionMetrics, measurePool, senderSources } from '#executionThread/metrics'
import { SenderThreads } from '#executionThread/senderThreads'
import { publisherMetrics } from '#flashblocks/metrics'
import { createPublisher, type Publisher } from '#flashblocks/publisher'
import { stateSourceMetrics } from '#l2/metrics'
import { createStateSources } from '#l2/state/stateSources'
import { WitnessesAhead } from '#l2/state/witnessesAhead'
import type { FetchedState } from '#state/fetchedState'
import { createHistoryCaches } from '#state/historyCache'
import type { TxPoolFacts } from '#txpool/txPool'
import type { Hash } from '#types/ids'
import { type FillPart, openFill } from '../fill/fillPart.ts'
import type { NodeMemory } from '../memory/nodeMemory.ts'
import type { NodeDeps, PartDeps } from '../nodeDeps.ts'
import type { FlashblocksOptions, NodeOptions } from '../nodeOptions.ts'
import type { FlashblocksListen, ListenOptions, Urls } from '../serving/servers.ts'
import type { SendersBy, Tracing } from '../tracing/tracing.ts'
import type { ExpectedBlocks } from './followPart.ts'
import { openProofs, retentionBeside } from './proofsPart.ts'

/** `onPublish`: called with each record right after it can be read. */
export type ExecutionHalfDeps = Pick<PartDeps, 'clock' | 'log' | 'registry' | 'fetch'> &
  Pick<NodeDeps, 'supervisor' | 'onCommit'> & {
    readonly memory: Pick<NodeMemory, 'bytes' | 'caches' | 'guard' | 'collect'>
    readonly onPublish?: (record: HeadRecord) => void
    readonly tracing?: Tracing | undefined
  }

export type ExecutionHalfOptions = Pick<
  NodeOptions,
  'config' | 'genesis' | 'datadir' | 'stateUrls' | 'fill' | 'minFreeBytes' | 'maxPayloadMs' | 'retention' | 'rows' | 'proofs'
> & {
  readonly flashblocks?: Pick<FlashblocksOptions, 'maxTimeMs'>
  readonly listen: Pick<ListenOptions, 'flashblocks'>
}

export interface ExecutionHalf extends AsyncDisposable {
  readonly execution: ExecutionWorker
  /** where flashblocks of local blocks are published */
  readonly urls: Pick<Urls, 'flashblocks'>
  /** undefined: the state was whole at the start */
  readonly fill: FillPart | undefined
  /** Takes announced blocks, for the sources of a partial state. */
  readonly expected: ExpectedBlocks
  /** Returns why a node that requires proofs is not ready. */
  proofsProblems(): readonly string[]
  /** gas of all blocks executed since the start */
  executedGas(): bigint
  /** Returns how many senders were recovered by other threads in time, and by execution. */
  senders(): SendersBy
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

/** @throws Fault PORT_IN_USE, LISTEN_FAILED, of the store, of the proofs, WRONG_GENESIS, GENESIS_MISMATCH, EXECUTION_STOPPED (fatal) */
export async function openExecutionHalf(deps: ExecutionHalfDeps, options: ExecutionHalfOptions): Promise<ExecutionHalf> {
  const { registry, memory, tracing } = deps
  const { config, genesis, datadir, stateUrls, minFreeBytes, maxPayloadMs, rows, flashblocks, listen } = options
  const retention = options.proofs ? retentionBeside(options.retention, deps.log) : options.retention
  await using starting = new AsyncDisposableStack()
  const publisher = listen.flashblocks && starting.use(await openPublisher(deps, listen.flashblocks))
  const executed = executionMetrics.register(registry)
  const senders = starting.use(new SenderThreads(deps, { dir: join(datadir, 'chain') }))
  const metrics = stateUrls && stateSourceMetrics.register(registry)
  const state = metrics && createStateSources({ ...deps, log: deps.log.child('state'), metrics }, { urls: stateUrls })
  let fill: FillPart | undefined
  let ahead: WitnessesAhead | undefined
  const isPartial = (): boolean => fill !== undefined && fill.status().phase !== 'whole'
  let executedGas = 0n
  const onCommit = (phase: 'begin' | 'end'): void => {
    tracing?.commit(phase)
    deps.onCommit?.(phase)
  }
  const worker = await startExecutionWorker(
    {
      ...deps,
      ...(tracing && { onCommit: (phase): void => onCommit(phase) }),
      genesis,
      ...(state && { state: { fetch: (request): Promise<FetchedState> => (ahead ?? state).fetch(request) } }),
      senders,
      history: createHistoryCaches((share) => memory.caches.lru('history', share)),
      onFlashblock: (flashblock) => publisher?.publish(flashblock),
      onExecuted({ number, gasUsed, transactions, ms, trace }): void {
        const lacked = ahead?.executed(number)
        if (lacked && isPartial()) metrics?.blocks.inc({ lacked })
        if (trace) tracing?.executed(trace)
        executedGas += gasUsed
        executed.blocks.inc({})
        executed.gas.inc({}, Number(gasUsed))
        executed.milliseconds.inc({}, ms)
        executed.transactions.inc({}, transactions)
        executed.lastBlock.set({}, number)
      },
      onPruned({ ms, blocks }): void {
        executed.pruneSteps.observe({}, ms / 1_000)
        executed.pruned.inc({}, blocks)
      },
      onMoved({ moved, rows, ms }): void {
        executed.movedBlocks.inc({}, moved)
        executed.movedRows.inc({}, rows)
        executed.movingMilliseconds.inc({}, ms)
      },
    },
    {
      ...{ dir: join(datadir, 'chain'), config, minFreeBytes, cacheBytes: memory.bytes, memoryMaxBytes: memory.guard.maxBytes },
      ...(tracing && { isTraced: true }),
      ...(rows && { rows }),
      ...(maxPayloadMs !== undefined && { maxPayloadMs: maxPayloadMs || Number.POSITIVE_INFINITY }),
      ...(retention && { retention }),
      maxPendingMs: flashblocks?.maxTimeMs ?? 2_000 * config.blockTimeSec,
      ...(listen.flashblocks && { flashblockMs: listen.flashblocks.intervalMs }),
    },
  )
  const execution = starting.use(worker)
  if (state)
    ahead = new WitnessesAhead(
      { source: state, enter: (parts): Promise<void> => execution.enter(parts) },
      execution.published.heads.unsafe.number,
    )
  fill = openFill({ ...deps, execution, source: state }, options)
  if (fill) starting.use(fill)
  const proofs = options.proofs && starting.use(await openProofs(deps, execution, datadir, options.proofs))
  let poolBefore: TxPoolFacts | undefined
  let reusedBefore = 0
  let stagesBefore: StageTimes['ms'] | undefined
  let sendersBefore = senders.facts
  let abandonedBefore = execution.abandonedCounts()
  function collect(): void {
    const { journalBytes, treeBytes, overlayBlocks, reused, stageMs, pool } = execution.sizes()
    executed.reused.inc({}, reused - reusedBefore)
    reusedBefore = reused
    for (const stage of blockStages) executed.stages.inc({ stage }, (stageMs?.[stage] ?? 0) - (stagesBefore?.[stage] ?? 0))
    stagesBefore = stageMs
    executed.calls.set({}, execution.callBytes)
    executed.journal.set({}, journalBytes)
    executed.tree.set({}, treeBytes)
    executed.overlays.set({}, overlayBlocks)
    executed.running.set({}, (execution.running()?.forMs ?? 0) / 1_000)
    const abandoned = execution.abandonedCounts()
    for (const what of abandonedKinds) executed.abandoned.inc({ what }, abandoned[what] - abandonedBefore[what])
    abandonedBefore = abandoned
    const recovered = senders.facts
    for (const by of senderSources) executed.senders.inc({ by }, recovered[by] - sendersBefore[by])
    executed.rootParts.inc({}, Math.max(0, recovered.rootParts - sendersBefore.rootParts))
    sendersBefore = recovered
    executed.senderQueue.set({}, recovered.queuedBytes)
    measureHistory()
    proofs?.collect()
    fill?.collect()
    if (pool) measurePool(executed, pool, poolBefore)
    poolBefore = pool
  }
  function measureHistory(): void {
    using view = execution.view()
    executed.oldestState.set({}, view.oldestState)
    executed.oldestProof.set({}, view.oldestProof)
  }
  const urls = publisher ? { flashblocks: publisher.url } : {}
  const kept = starting.move()
  return {
    ...{ execution, urls, fill, collect },
    expected: {
      expect(block, parentStateRoot): void {
        if (isPartial()) ahead?.expect({ ...block, parentStateRoot })
      },
      stateRootOf(hash): Hash | undefined {
        using view = execution.view()
        return view.header(hash)?.stateRoot
      },
    },
    proofsProblems: () => proofs?.problems() ?? [],
    executedGas: () => executedGas,
    senders: () => senders.facts,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const openPublisher = ({ clock, log, registry }: ExecutionHalfDeps, listen: FlashblocksListen): Promise<Publisher> =>
  createPublisher({ clock, log: log.child('flashblocks'), metrics: publisherMetrics.register(registry) }, listen)
