import { deserialize } from 'node:v8'
import type { MessagePort } from 'node:worker_threads'
import type { AbandonedBlock, AbandonedCounts, ExecutionWatch, RunningBlock } from '#block/execution/executionWatch'
import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { PruneStep } from '#blockchain/pruning/pruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import type { ExecutionView } from '#blockchain/view/chainView'
import type { OlderStates } from '#blockchain/view/olderStates'
import type { Genesis } from '#chainspec/genesis'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import type { WantedState } from '#evm/ports'
import type { Clock } from '#lib/clock'
import { restoreError, transferError } from '#lib/errorTransfer'
import type { Log } from '#lib/log'
import { writeLine } from '#lib/logTransfer'
import type { PendingPort } from '#pending/pendingPort'
import { stateFault } from '#state/faults'
import type { FetchedState } from '#state/fetchedState'
import type { HistoryCaches } from '#state/historyCache'
import type { StateRequest, StateSource } from '#state/stateSource'
import type { SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { BuiltFlashblock } from '#types/flashblock'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { TransactionPool } from '#types/transactionPool'
import { WorkerCalls } from './calls.ts'
import { drainOf } from './drainOf.ts'
import { inOrder } from './inOrder.ts'
import { PublishedChain } from './publishedChain.ts'
import type { PublishedSequence } from './publishedSequence.ts'
import type { SenderThreads } from './senderThreads.ts'
import { packAttributes, packPayload, unpack } from './wire/packedBlocks.ts'
import { createPendingClient } from './wire/pendingCalls.ts'
import type { EngineAnswers, EngineCall, ExecutedFacts, ExecutionSizes, FromWorker, ReaderSettings, ToWorker } from './wire/protocol.ts'
import { PoolClient } from './wire/txPoolCalls.ts'

export type ExecutionClientDeps = {
  readonly config: ExecutionConfig
  readonly shown: PublishedSequence
  readonly watch: ExecutionWatch
  /** Recovers senders of payloads and attributes while they wait and run; absent: the execution thread recovers all. */
  readonly senders?: Pick<SenderThreads, 'post' | 'count'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Caches of reads of old states; absent: the usual ones of the thread. */
  readonly history?: HistoryCaches
  /** Read only when the store is empty. */
  readonly genesis: () => Genesis
  /** Source of parts that a partial state lacks. Absent: a call that lacks one fails. */
  readonly state?: StateSource
  readonly log: Log
  /** Called for each transaction that moves the chain; the execution thread does not wait for it. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Called with each flashblock of a block that is built with the pool. */
  readonly onFlashblock?: (flashblock: BuiltFlashblock) => void
  /** Called with each record right after it became the published one. */
  readonly onPublish?: (record: HeadRecord) => void
  /** Called after each step that moved finalized rows to segment files, or removed rows that are not retained. */
  readonly onMoved?: (step: MoverStep) => void
  /** Called for each executed block, canonical or not. */
  readonly onExecuted?: (facts: ExecutedFacts) => void
  /** Called for each step that removed older states. */
  readonly onPruned?: (step: PruneStep) => void
}

/**
 * Execution that runs in another thread: calls go over a port; reads use the published record and snapshots of the store in this thread. Messages are
 * taken in the order in which they were sent, so the effects of a call are published before its answer arrives.
 */
export class ExecutionClient implements Engine {
  /** The transaction pool, kept in the other thread. */
  readonly pool: TransactionPool
  /** Execution of flashblocks in the other thread. */
  readonly pending: PendingPort
  readonly #port: MessagePort
  readonly #deps: ExecutionClientDeps
  /** Takes messages that have arrived but were not yet dispatched by the event loop. */
  readonly #drain: () => void
  readonly #calls: WorkerCalls
  readonly #chain: PublishedChain
  readonly #opened = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<never>()
  readonly #announce = inOrder((record: HeadRecord) => this.#deps.onPublish?.(record))
  #failure: Error | undefined
  #callBytes = 0

  constructor(port: MessagePort, deps: ExecutionClientDeps) {
    this.#port = port
    this.#deps = deps
    this.#drain = drainOf<readonly FromWorker[]>(port, (messages) => this.#take(messages))
    this.#calls = new WorkerCalls(port)
    this.#chain = new PublishedChain({ ...deps, drain: this.#drain })
    this.pool = new PoolClient(this.#calls)
    this.pending = createPendingClient(this.#calls, deps.senders)
    for (const { promise } of [this.#opened, this.#ended]) promise.catch(() => {})
    port.on('message', (messages: readonly FromWorker[]) => this.#take(messages))
    port.on('messageerror', (error) => this.fail(executionFault('EXECUTION_STOPPED', { reason: 'a message cannot be decoded' }, error)))
  }

  /** Resolves when the stores are open, for readers too. @throws the fault that kept the execution thread from starting */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Rejects with the fault that ended the execution thread; never resolves. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  /** Sets the snapshot source. @param older source of states that the chain no longer has */
  readFrom(source: SnapshotSource, older?: OlderStates): void {
    this.#chain.readFrom(source, older)
  }

  /** Disposes the cached snapshot once it has no users. */
  forgetSnapshot(): void {
    this.#chain.forget()
  }

  /** Sends published records to the other end of this port, whose thread may call the pool. */
  addReader({ port, taken }: Pick<ReaderSettings, 'port' | 'taken'>): void {
    this.#port.postMessage({ kind: 'reader', port, taken } satisfies ToWorker, [port])
  }

  get published(): HeadRecord {
    return this.#chain.published
  }

  /** Returns the sizes that execution held at its last record. */
  sizes(): ExecutionSizes {
    return this.#chain.sizes()
  }

  /**
   * Returns the chain at this instant.
   * @throws Fault EXECUTION_STOPPED, CHAIN_STORE_DAMAGED (fatal)
   */
  view(): ExecutionView {
    return this.#chain.view()
  }

  async insert(payload: Payload): Promise<InsertResult> {
    const packed = packPayload(payload)
    using senders = this.#deps.senders?.post(packed.transactions)
    const { length } = packed.transactions.bytes
    this.#callBytes += length
    try {
      return await this.#ask({ method: 'insert', payload: packed, senders: senders?.memory })
    } finally {
      this.#callBytes -= length
    }
  }

  async build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onForcedExecuted?: () => void): Promise<BuildResult> {
    // sealed from the start: there is no time for the pool
    const packed = packAttributes(seal?.aborted ? { ...attributes, noTxPool: true } : attributes)
    const id = this.#calls.newId()
    using senders = this.#deps.senders?.post(packed.transactions)
    const call = { method: 'build', parent, attributes: packed, senders: senders?.memory, isSealedLater: seal !== undefined } as const
    const answer = this.#ask(call, id, onForcedExecuted)
    const onSeal = (): void => this.#post({ kind: 'seal', id })
    seal?.addEventListener('abort', onSeal, { once: true })
    try {
      const result = await answer
      return result.kind === 'built' ? { kind: 'built', payload: unpack(result.payload) } : result
    } finally {
      seal?.removeEventListener('abort', onSeal)
    }
  }

  async setHeads(heads: Heads): Promise<void> {
    await this.#ask({ method: 'setHeads', heads })
  }

  async heads(): Promise<Heads> {
    return this.#ask({ method: 'heads' })
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    const payload = await this.#ask({ method: 'payload', at })
    return payload && unpack(payload)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    return this.#ask({ method: 'storageRoot', account, block })
  }

  /** Fetches and stores a part that a partial state lacks; later views have it. @param withinMs longest wait @throws Fault STATE_UNAVAILABLE (retry), STATE_INCOMPLETE (fatal) */
  async complete(wanted: WantedState, withinMs: number): Promise<void> {
    await this.#calls.call({ method: 'complete', wanted, withinMs })
  }

  /** Stores parts of a partial state, with the progress of its fill. @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED (fatal) */
  async enter(parts: FetchedState): Promise<void> {
    await this.#calls.call({ method: 'enter', parts })
  }

  /** Bytes of inserted payloads that are not answered. */
  get callBytes(): number {
    return this.#callBytes
  }

  /** Returns the block that the other thread executes now. */
  running(): RunningBlock | undefined {
    return this.#deps.watch.running(this.#deps.clock.nowMs())
  }

  /** Returns the newest payload whose execution was abandoned, until the chain passes it. */
  abandoned(): AbandonedBlock | undefined {
    const block = this.#deps.watch.abandoned()
    return block && block.number > this.published.heads.unsafe.number ? block : undefined
  }

  /** Returns the number of abandoned executions since the start. */
  abandonedCounts(): AbandonedCounts {
    return this.#deps.watch.counts()
  }

  /** Requests the other end to finish its work and close its port. */
  requestClose(): void {
    this.#deps.watch.stop()
    this.#post({ kind: 'close' })
  }

  /** Ends all calls, unanswered and later ones, with the error. Messages already sent still count; the first error stays. */
  fail(error: Error): void {
    this.#drain()
    if (this.#failure) return
    this.#failure = error
    this.#chain.fail(error)
    this.#opened.reject(error)
    this.#ended.reject(error)
    this.#calls.fail(error)
  }

  /** Calls the engine; the execution of a pending block gives way. */
  #ask<C extends EngineCall>(call: C, id?: number, onForcedExecuted?: () => void): Promise<EngineAnswers[C['method']]> {
    this.#deps.watch.called()
    return this.#calls.call(call, id, onForcedExecuted)
  }

  #post(message: ToWorker): void {
    this.#port.postMessage(message)
  }

  #take(messages: readonly FromWorker[]): void {
    for (const message of messages) this.#receive(message)
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'answer':
      case 'refusal':
      case 'forced-executed':
        this.#calls.take(message)
        break
      case 'published':
        this.#chain.take(message)
        this.#announce(this.published)
        break
      case 'pruned':
        this.#deps.onPruned?.(message.step)
        return
      case 'executed':
        this.#deps.onExecuted?.(message.facts)
        break
      case 'moved':
        this.#deps.onMoved?.(message.step)
        break
      case 'commit':
        this.#deps.onCommit?.(message.phase)
        break
      case 'flashblock':
        this.#deps.onFlashblock?.(deserialize(message.flashblock) as BuiltFlashblock)
        break
      case 'log':
        writeLine(this.#deps.log, message.line)
        break
      case 'genesis-wanted':
        this.#giveGenesis()
        break
      case 'state-wanted':
        void this.#giveState(message.id, message.request)
        break
      case 'opened':
        this.#opened.resolve()
        break
      case 'failed':
        this.fail(restoreError(message.error))
        break
    }
  }

  async #giveState(id: number, request: StateRequest): Promise<void> {
    try {
      const { state } = this.#deps
      if (state === undefined) throw stateFault('STATE_INCOMPLETE', { anchor: request.at.number })
      this.#post({ kind: 'state', id, fetched: await state.fetch(request) })
    } catch (error) {
      this.#post({ kind: 'state-refused', id, error: transferError(error) })
    }
  }

  #giveGenesis(): void {
    try {
      this.#post({ kind: 'genesis', genesis: this.#deps.genesis() })
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error), { cause: error }))
    }
  }
}
