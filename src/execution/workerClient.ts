import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Genesis } from '#chain/genesis'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import type { Log } from '#lib/log'
import type { SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { type ChainView, createChainView } from './chainView.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import { executionFault } from './faults.ts'
import type { HeadRecord } from './headRecord.ts'
import type { TransactionPool } from './poolPort.ts'
import { packAttributes, packPayload, unpack, unpackBlock } from './workerBlocks.ts'
import { createPoolClient } from './workerPool.ts'
import {
  type ExecutedFacts,
  type ExecutionSizes,
  type FromWorker,
  receiveError,
  type ToWorker,
  type WorkerAnswers,
  type WorkerCall,
} from './workerProtocol.ts'

export type ExecutionClientDeps = {
  readonly config: ExecutionConfig
  /** Read only when the store is empty. */
  readonly genesis: () => Genesis
  readonly log: Log
  /** Told of each transaction that moves the chain; the worker does not wait for it. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Told of each record right after it is the published one. */
  readonly onPublish?: (record: HeadRecord) => void
  /** Told of each block that was executed, whatever becomes of it. */
  readonly onExecuted?: (facts: ExecutedFacts) => void
}

type Pending = {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
  readonly onSound: (() => void) | undefined
}

/** One view may meet this many commits that end between its record and its snapshot, or one that lasts as many milliseconds. */
const maxViewTries = 5_000
const triesInARow = 3

/**
 * Execution that runs in another thread: calls go over a port; the chain is read here, out of the published record and snapshots of the store.
 * Messages are taken in the order in which they were sent, so whatever a call did is published before its answer is here.
 */
export class ExecutionClient implements Engine {
  /** Transactions that wait for a block, kept in the other thread. */
  readonly pool: TransactionPool = createPoolClient((call) => this.#call(call))
  readonly #port: MessagePort
  readonly #deps: ExecutionClientDeps
  readonly #pending = new Map<number, Pending>()
  readonly #opened = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<never>()
  #lastCall = 0
  #record: HeadRecord | undefined
  #sizes: ExecutionSizes = { journalBytes: 0, treeBytes: 0, overlayBlocks: 0 }
  #source: SnapshotSource | undefined
  #failure: Error | undefined

  constructor(port: MessagePort, deps: ExecutionClientDeps) {
    this.#port = port
    this.#deps = deps
    for (const { promise } of [this.#opened, this.#ended]) promise.catch(() => {})
    port.on('message', (messages: readonly FromWorker[]) => this.#take(messages))
    port.on('messageerror', (error) => this.fail(executionFault('EXECUTION_STOPPED', { reason: 'a message cannot be read' }, error)))
  }

  /** When the stores are open, for readers too. @throws the fault that the worker could not start with */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Rejects when nothing more will come: with the fault that ended the worker. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  /** From now on the chain is read out of this. */
  readFrom(source: SnapshotSource): void {
    this.#source = source
  }

  get published(): HeadRecord {
    if (this.#record === undefined) throw this.#failure ?? new RangeError('execution is not open yet')
    return this.#record
  }

  /** What execution held when it published last. */
  sizes(): ExecutionSizes {
    return this.#sizes
  }

  /**
   * The chain as it is now.
   * @throws Fault EXECUTION_STOPPED, CHAIN_STORE_DAMAGED (fatal)
   */
  view(): ChainView {
    if (this.#source === undefined) throw new RangeError('execution is not open yet')
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 1; tries <= maxViewTries; tries++) {
      this.#drain()
      if (this.#failure) throw this.#failure
      const view = this.#viewOnce(this.#source)
      if (view) return view
      if (tries >= triesInARow) Atomics.wait(pause, 0, 0, 1)
    }
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.published.committed.hash}, the head that was committed` })
  }

  #viewOnce(source: SnapshotSource): ChainView | undefined {
    const reader = source.snapshot()
    let view: ChainView | undefined
    try {
      view = createChainView(reader, this.#deps.config, this.published, () => undefined)
      return view
    } finally {
      if (view === undefined) reader[Symbol.dispose]()
    }
  }

  async insert(payload: Payload): Promise<InsertResult> {
    return this.#call({ method: 'insert', payload: packPayload(payload) })
  }

  async build(parent: BlockId, attributes: PayloadAttributes, seal?: AbortSignal, onSound?: () => void): Promise<BuildResult> {
    // sealed from the start: no time for the pool
    const packed = packAttributes(seal?.aborted ? { ...attributes, noTxPool: true } : attributes)
    const id = ++this.#lastCall
    const answer = this.#call({ method: 'build', parent, attributes: packed, isSealedLater: seal !== undefined }, id, onSound)
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
    await this.#call({ method: 'setHeads', heads })
  }

  async heads(): Promise<Heads> {
    return this.#call({ method: 'heads' })
  }

  async payload(at: number | Hash): Promise<Payload | undefined> {
    const payload = await this.#call({ method: 'payload', at })
    return payload && unpack(payload)
  }

  async storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    return this.#call({ method: 'storageRoot', account, block })
  }

  /** Asks the other end to bring its work to an end; it closes its port then. */
  requestClose(): void {
    this.#post({ kind: 'close' })
  }

  /** Nothing more will come: all calls, those under way and later ones, end with the error. What it said before counts, then the first reason. */
  fail(error: Error): void {
    this.#drain()
    if (this.#failure) return
    this.#failure = error
    this.#opened.reject(error)
    this.#ended.reject(error)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }

  #call<C extends WorkerCall>(call: C, id = ++this.#lastCall, onSound?: () => void): Promise<WorkerAnswers[C['method']]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, onSound })
      this.#post({ kind: 'call', id, call })
    })
  }

  #post(message: ToWorker): void {
    this.#port.postMessage(message)
  }

  /** Takes what has arrived and was not handed to the event loop yet. */
  #drain(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#take(next.message as readonly FromWorker[])
    }
  }

  #take(messages: readonly FromWorker[]): void {
    for (const message of messages) this.#receive(message)
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'answer':
        this.#settled(message.id)?.resolve(message.answer)
        break
      case 'refusal':
        this.#settled(message.id)?.reject(receiveError(message.error))
        break
      case 'sound':
        this.#pending.get(message.id)?.onSound?.()
        break
      case 'published':
        this.#publish(message)
        break
      case 'executed':
        this.#deps.onExecuted?.(message.facts)
        break
      case 'commit':
        this.#deps.onCommit?.(message.phase)
        break
      case 'log':
        this.#write(message)
        break
      case 'genesis-wanted':
        this.#giveGenesis()
        break
      case 'opened':
        this.#opened.resolve()
        break
      case 'failed':
        this.fail(receiveError(message.error))
        break
    }
  }

  #settled(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #publish({ heads, kept, added, sizes }: Extract<FromWorker, { kind: 'published' }>): void {
    const before = this.#record?.overlays.slice(kept.from, kept.to) ?? []
    this.#sizes = sizes
    this.#record = Object.freeze({ ...heads, overlays: Object.freeze([...before, ...added.map(unpackBlock)]) })
    this.#deps.onPublish?.(this.#record)
  }

  #write({ module, level, message, fields, errors }: Extract<FromWorker, { kind: 'log' }>): void {
    const received = Object.entries(errors).map(([key, error]) => [key, receiveError(error)])
    this.#deps.log.child(module)[level](message, { ...fields, ...Object.fromEntries(received) })
  }

  #giveGenesis(): void {
    try {
      this.#post({ kind: 'genesis', genesis: this.#deps.genesis() })
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error), { cause: error }))
    }
  }
}
