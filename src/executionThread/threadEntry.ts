// Entry of the execution thread, the only writer of the chain's tables.
import { once } from 'node:events'
import { serialize } from 'node:v8'
import { type MessagePort, workerData } from 'node:worker_threads'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { readHeads } from '#blockchain/chainStore'
import { CompletedEngine, StateCompletion } from '#blockchain/completedEngine'
import { createExecution, type Execution } from '#blockchain/execution'
import { retainAllRows } from '#blockchain/segments/rowPruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import { StageTimes } from '#blockchain/stageTimes'
import type { ExecutionView } from '#blockchain/view/chainView'
import type { Genesis } from '#chainspec/genesis'
import type { Evm, EvmSession } from '#evm/ports'
import { warmUp } from '#evm/warmUp'
import { createWasmEvm } from '#evm/wasmEvm'
import { CacheSet } from '#lib/caches'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import type { Log } from '#lib/log'
import { createTransferLog, type LogLine } from '#lib/logTransfer'
import { createThreadGuard } from '#lib/memoryGuard'
import { createPulse, Heartbeat } from '#lib/supervisor'
import { createHistoryCaches } from '#state/historyCache'
import { isPartialState } from '#state/partialState'
import { openChainKv } from '#store/chainTables'
import { openFileJournal } from '#store/fileJournal'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { Tries } from '#trie/tries'
import { createTxPool } from '#txpool/txPool'
import type { BuiltFlashblock } from '#types/flashblock'
import type { Hash } from '#types/ids'
import type { BlockLimits } from '#types/transactionPool'
import { CommitThread } from './commitThread.ts'
import { completedPool } from './completedPool.ts'
import { followDiskWaits } from './diskWaits.ts'
import { type Served, serveEngine, serveReader } from './executionServer.ts'
import { KeyRing } from './keyRing.ts'
import { createMover, type MovingSettings } from './moving.ts'
import { RecordPublisher, WorkerOutbox } from './outbox.ts'
import { PublishedSequence } from './publishedSequence.ts'
import { RemoteState } from './remoteState.ts'
import { LinkedRootThreads } from './roots/rootThreads.ts'
import type { PackedBlock } from './wire/packedBlocks.ts'
import {
  type ExecutedTrace,
  type ExecutionCacheBytes,
  journalDir,
  poolJournalDir,
  type ReaderSettings,
  type ToWorker,
  type WorkerSettings,
} from './wire/protocol.ts'

/** Caches of a thread without a budget. */
const usualCacheBytes: ExecutionCacheBytes = { senders: senderCacheBytes, nodes: 64 * 2 ** 20, branches: 4 * 2 ** 20, code: 32 * 2 ** 20 }

/** Requests the genesis from the main thread when the store is empty; it may be large. */
async function genesisFor(kv: Kv, port: MessagePort, outbox: WorkerOutbox): Promise<Genesis | undefined> {
  {
    using reader = kv.snapshot()
    if (readHeads(reader)) return undefined
  }
  outbox.send({ kind: 'genesis-wanted' })
  const [message] = (await once(port, 'message')) as [ToWorker]
  return message.kind === 'genesis' ? message.genesis : undefined
}

function isPartial(kv: Kv): boolean {
  using reader = kv.snapshot()
  return isPartialState(reader)
}

/** Readers of the chain in other threads, until their ports close. Disposing closes the ports. */
function createReaders(
  publisher: RecordPublisher,
  served: Parameters<typeof serveReader>[1],
): Disposable & { add(reader: Pick<ReaderSettings, 'port' | 'taken'>): void } {
  const ports = new Set<MessagePort>()
  return {
    add({ port, taken }): void {
      const outbox = new WorkerOutbox(port, taken)
      ports.add(port)
      port.once('close', () => {
        ports.delete(port)
        publisher.leave(outbox)
      })
      serveReader(port, served, outbox)
      publisher.join(outbox)
    },
    [Symbol.dispose](): void {
      for (const port of ports) port.close()
    },
  }
}

/** Pieces of work between two heartbeats: at most two seconds. */
const piecesPerBeat = 64

/** Returns an interpreter that sends heartbeats while it runs. */
function beating(evm: Evm, beat: () => void): Evm {
  let pieces = 0
  return {
    open(view, block, rules, interruptCheck): EvmSession {
      return evm.open(view, block, rules, (pieceGas) => {
        if (++pieces % piecesPerBeat === 0) beat()
        interruptCheck?.(pieceGas)
      })
    },
  }
}

/** Starts the thread that writes the commits. Its end by itself ends execution. */
function openCommitThread(
  settings: NonNullable<WorkerSettings['commits']>,
  {
    dir,
    moving,
    memoryMaxBytes,
    beat,
    publisher,
    outbox,
    onMoved,
  }: {
    dir: string
    moving: MovingSettings
    memoryMaxBytes: number
    beat: () => void
    publisher: RecordPublisher
    outbox: WorkerOutbox
    onMoved: (step: MoverStep) => void
  },
): CommitThread {
  const onFailure = (error: Error): void => outbox.send({ kind: 'failed', error: transferError(error) })
  const pack = (block: ExecutedBlock): PackedBlock => publisher.packed(block)
  const onLog = (line: LogLine): void => outbox.add({ kind: 'log', line })
  return new CommitThread(dir, { ...settings, moving, memoryMaxBytes, pack, onWait: beat, onFailure, onMoved, onLog })
}

/** Returns a function that gives the times of the block that was executed last. */
function createTracer(stages: StageTimes): (hash: Hash, ms: number) => ExecutedTrace {
  let before = stages.ms
  return (hash, ms) => {
    const now = stages.ms
    const since = { transactions: now.transactions - before.transactions, seal: now.seal - before.seal }
    before = now
    return { hash, endMs: systemClock.nowMs(), ms, stages: since }
  }
}

async function run(settings: WorkerSettings, outbox: WorkerOutbox): Promise<void> {
  const {
    port,
    dir,
    config,
    minFreeBytes,
    retention,
    maxPayloadMs,
    maxPendingMs,
    flashblockMs,
    pool: limits,
    cacheBytes = usualCacheBytes,
    memoryMaxBytes = Number.POSITIVE_INFINITY,
  } = settings
  const watch = new ExecutionWatch(settings.watch)
  const logOf = (module: string): Log => createTransferLog((line) => outbox.add({ kind: 'log', line }), module)
  const log = logOf('execution')
  const heartbeat = new Heartbeat(settings.heartbeat, systemClock)
  const beat = (): void => heartbeat.beat()
  using _watchdog = createPulse(heartbeat, systemClock)
  await using kv = openChainKv(dir, beat)
  agreeOnSchema(kv, chainSchema)
  const given = await genesisFor(kv, port, outbox)
  const genesis = (): Genesis => {
    if (given === undefined) throw new RangeError('closed before the chain could begin')
    return given
  }
  using journal = openFileJournal(journalDir(dir), log)
  using poolJournal = openFileJournal(poolJournalDir(dir), log)
  const caches = new CacheSet(cacheBytes)
  using memory = createThreadGuard(systemClock, memoryMaxBytes, caches)
  const senders = createSenders({ known: caches.lru('senders') })
  // the first record is published before `opened` is set
  let opened: Execution | undefined
  const view = (): ExecutionView => {
    if (opened === undefined) throw new RangeError('the pool reads before the chain is open')
    return opened.view()
  }
  const poolDeps = { config, view, senders, journal: poolJournal, clock: systemClock, log: logOf('pool') }
  const pool = createTxPool(poolDeps, limits)
  const publisher = new RecordPublisher(new PublishedSequence(settings.shown))
  publisher.join(outbox)
  const moving = { rows: settings.rows ?? retainAllRows, minFreeBytes }
  const onMoved = (step: MoverStep): void => {
    outbox.add({ kind: 'moved', step })
    if (step.unrecorded > 0) opened?.republish()
  }
  await using committer =
    settings.commits && openCommitThread(settings.commits, { dir, moving, memoryMaxBytes, beat, publisher, outbox, onMoved })
  const evm = beating(
    caches.add('code', (codeBytes) => createWasmEvm({ codeBytes })),
    beat,
  )
  warmUp(evm)
  const keys = settings.keys && new KeyRing(settings.keys)
  const blockEnded = keys && followDiskWaits(keys)
  const stages = new StageTimes(systemClock)
  const tracer = settings.isTraced ? createTracer(stages) : undefined
  await using mover = committer ? undefined : createMover(kv, { dir, ...moving, log: logOf('segments'), onStep: onMoved })
  await using execution = createExecution(
    {
      kv,
      journal,
      ...(committer && { committer }),
      evm,
      config,
      genesis,
      pool,
      senders,
      history: createHistoryCaches((share) => caches.lru('branches', share)),
      keys,
      tries: caches.add('nodes', (bytes) => new Tries(bytes)),
      ...(settings.roots?.length && { rootThreads: new LinkedRootThreads(settings.roots) }),
      memory,
      watch,
      stages,
      clock: systemClock,
      log,
      ...(flashblockMs !== undefined && {
        flashblocks: {
          everyMs: flashblockMs,
          onFlashblock: (flashblock: BuiltFlashblock) => outbox.send({ kind: 'flashblock', flashblock: serialize(flashblock) }),
        },
      }),
      onCommit(phase): void {
        outbox.send({ kind: 'commit', phase })
        if (phase === 'end') mover?.committed()
      },
      onPublish(record): void {
        const sizes = opened?.sizes() ?? { journalBytes: journal.sizeBytes, treeBytes: 0, overlayBlocks: 0, reused: 0 }
        stages.begin()
        publisher.publish(record, { ...sizes, pool: pool.facts(), caches: caches.facts(), stageMs: stages.ms })
        stages.ended('publish')
        if (opened) pool.onPublished(record)
      },
      onExecuted({ hash, header: { number, gasUsed }, transactions }, ms): void {
        blockEnded?.()
        const facts = { number, gasUsed, transactions: transactions.length, ms }
        outbox.add({ kind: 'executed', facts: tracer ? { ...facts, trace: tracer(hash, ms) } : facts })
      },
      onPruned: (step) => outbox.add({ kind: 'pruned', step }),
    },
    {
      minFreeBytes,
      retention,
      ...(maxPayloadMs !== undefined && { maxPayloadMs }),
      ...(maxPendingMs !== undefined && { maxPendingMs }),
    },
  )
  opened = execution
  committer?.start()
  pool.onPublished(execution.published)
  using _restore = pool.restore()
  outbox.send({ kind: 'opened' })
  mover?.committed()
  const remote = new RemoteState((message) => outbox.send(message))
  const completion = new StateCompletion(execution, remote)
  const complete: Served['complete'] = (wanted, withinMs) => completion.complete(wanted, execution.published.heads.unsafe, withinMs)
  const isWhole = !isPartial(kv)
  const served = {
    pool: isWhole ? pool : completedPool(pool, complete),
    limitBlocks: (change: BlockLimits): void => execution.limitBlocks(change),
    complete,
  }
  using readers = createReaders(publisher, served)
  await serveEngine(
    port,
    {
      ...served,
      engine: isWhole ? execution : new CompletedEngine(execution, completion),
      pending: execution.pending,
      enter: (parts) => execution.enter(parts),
      onEngineCall: () => watch.took(),
      onFetched: (answer) => remote.take(answer),
      onClose: () => remote.close(),
      onReader: (reader) => readers.add(reader),
    },
    outbox,
  )
}

const settings = workerData as WorkerSettings
const outbox = new WorkerOutbox(settings.port)
try {
  await run(settings, outbox)
} catch (error) {
  outbox.send({ kind: 'failed', error: transferError(error) })
} finally {
  settings.port.close()
}
