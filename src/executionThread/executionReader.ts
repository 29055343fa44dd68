import { executionFault } from '#block/faults'
import type { Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { WantedState } from '#evm/ports'
import type { Clock } from '#lib/clock'
import { openOlderStates } from '#proofs/olderStates'
import type { HistoryCaches } from '#state/historyCache'
import { openChainReader } from '#store/chainTables'
import type { TransactionPool } from '#types/transactionPool'
import { WorkerCalls } from './calls.ts'
import { drainOf } from './drainOf.ts'
import { inOrder } from './inOrder.ts'
import { PublishedChain } from './publishedChain.ts'
import { PublishedSequence } from './publishedSequence.ts'
import type { ReaderSettings, ToReader } from './wire/protocol.ts'
import { PoolClient } from './wire/txPoolCalls.ts'

export type ExecutionReaderDeps = {
  readonly clock: Pick<Clock, 'nowMs'>
  /** caches of reads of old states; absent: the usual ones of the thread */
  readonly history?: HistoryCaches
  /** Called with each record right after it became the published one. */
  readonly onPublish?: (record: HeadRecord) => void
}

/** The chain and the pool of an execution thread as another thread reads them. Disposing closes its port and its tables. */
export type ExecutionReader = Pick<Execution, 'published' | 'view'> &
  AsyncDisposable & {
    readonly pool: TransactionPool
    /** Fetches and stores a part that a partial state lacks; later views have it. @param withinMs longest wait @throws Fault STATE_UNAVAILABLE (retry), STATE_INCOMPLETE (fatal) */
    complete(wanted: WantedState, withinMs: number): Promise<void>
    /** Rejects when the execution thread has ended (EXECUTION_STOPPED); never resolves. */
    readonly ended: Promise<never>
  }

class ReaderClient {
  readonly pool: TransactionPool
  readonly opened = Promise.withResolvers<void>()
  readonly ended = Promise.withResolvers<never>()
  readonly chain: PublishedChain
  readonly #drain: () => void
  readonly #deps: ExecutionReaderDeps
  readonly #calls: WorkerCalls
  readonly #taken: Int32Array
  readonly #announce = inOrder((record: HeadRecord) => this.#deps.onPublish?.(record))
  #isOver = false

  constructor({ port, config, shown, taken }: ReaderSettings, deps: ExecutionReaderDeps) {
    this.#deps = deps
    this.#taken = new Int32Array(taken)
    this.#drain = drainOf<readonly ToReader[]>(port, (messages) => this.#take(messages))
    this.#calls = new WorkerCalls(port)
    this.chain = new PublishedChain({
      config,
      shown: new PublishedSequence(shown),
      clock: deps.clock,
      history: deps.history,
      drain: this.#drain,
    })
    this.pool = new PoolClient(this.#calls)
    for (const { promise } of [this.opened, this.ended]) promise.catch(() => {})
    port.on('message', (messages: readonly ToReader[]) => this.#take(messages))
    port.once('close', () => this.fail('its port is closed'))
    port.once('messageerror', () => this.fail('a message cannot be decoded'))
  }

  async complete(wanted: WantedState, withinMs: number): Promise<void> {
    await this.#calls.call({ method: 'complete', wanted, withinMs })
  }

  fail(reason: string): void {
    this.#drain()
    if (this.#isOver) return
    this.#isOver = true
    const error = executionFault('EXECUTION_STOPPED', { reason })
    this.chain.fail(error)
    this.#calls.fail(error)
    this.opened.reject(error)
    this.ended.reject(error)
  }

  #take(messages: readonly ToReader[]): void {
    for (const message of messages) {
      if (message.kind === 'published') {
        this.chain.take(message)
        Atomics.store(this.#taken, 0, message.number)
        this.#announce(this.chain.published)
        this.opened.resolve()
      } else this.#calls.take(message)
    }
  }
}

/**
 * Opens the chain of an execution thread for reads in this thread.
 * @param settings from `ExecutionWorker.reader`, with its port moved to this thread
 * @returns once the first record has arrived
 * @throws Fault EXECUTION_STOPPED (fatal), DATADIR_DAMAGED
 */
export async function openExecutionReader(settings: ReaderSettings, deps: ExecutionReaderDeps): Promise<ExecutionReader> {
  const client = new ReaderClient(settings, deps)
  await using parts = new AsyncDisposableStack()
  parts.defer(() => settings.port.close())
  await client.opened.promise
  const older = settings.proofsDir === undefined ? undefined : parts.use(openOlderStates(settings.proofsDir))
  client.chain.readFrom(parts.use(openChainReader(settings.dir)), older)
  parts.defer(() => client.chain.forget())
  const kept = parts.move()
  return {
    get published(): HeadRecord {
      return client.chain.published
    },
    view: () => client.chain.view(),
    pool: client.pool,
    complete: (wanted, withinMs) => client.complete(wanted, withinMs),
    ended: client.ended.promise,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
