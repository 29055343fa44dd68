import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import type { Log, LogFields } from '#lib/log'
import type { PackedBytes } from '#lib/packedBytes'
import { KeyRing } from './keyRing.ts'
import { type RootLink, RootQueue } from './roots/rootLink.ts'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { minTransactions, recoverSenders, type SenderCounts, SenderTable } from './senderTable.ts'

/** Maximum number of sender threads: four recover senders several times as fast as the execution thread runs transactions. */
const maxThreads = 4
/** Maximum bytes of work that waits in a thread. Senders of a block beyond it are recovered by execution. */
export const maxQueuedBytes = 64 * 2 ** 20
/** Time in milliseconds after which a thread that does not end is terminated. */
const stopMs = 1_000
/** Heap of a thread. One transaction is decoded at a time. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 }

/** Returns the number of sender threads: one core is left for execution. */
export const senderThreadCount = (cores: number = availableParallelism()): number => Math.min(cores - 1, maxThreads)

/**
 * Begins to recover senders in this thread, in a turn of its own.
 * @param most number of senders that it recovers
 * @returns memory of their table, which the caller closes when the transactions are executed or refused; undefined when they are few, or there is one core
 */
export function recoverHere(transactions: PackedBytes<SharedArrayBuffer>, most: number): SharedArrayBuffer | undefined {
  const count = transactions.ends.length
  if (count < minTransactions || senderThreadCount() === 0) return undefined
  const table = SenderTable.create(count)
  let left = most
  setImmediate(() => recoverSenders(table, transactions, () => left-- === 0))
  return table.memory
}

/** Entry file of a thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./senderThreadEntry${extname(import.meta.url)}`, import.meta.url)

/** `queue`: memory of its `SenderQueue`; `tables`: absent if it only recovers senders. */
export type SenderThreadSettings = { readonly queue: SharedArrayBuffer; readonly tables: TableSettings | undefined }

/** Directory of the chain's tables, memory of the `KeyRing` of keys to read ahead, and the link for parts of state roots. */
type TableSettings = { readonly dir: string; readonly keys: SharedArrayBuffer; readonly roots: RootLink }

/** Message of a thread that cannot read the tables: from then on it reads nothing ahead, or computes no parts of state roots. */
export type TablesFailed = { readonly error: string }

/** @param ports that move to the thread with its settings */
type Start = (settings: SenderThreadSettings, ports: MessagePort[]) => Worker
const startWorker: Start = (settings, ports) =>
  new Worker(entry, { workerData: settings, transferList: ports, name: 'basalt senders', resourceLimits })

/** One thread, started with its first work. A thread that ends is not replaced. */
class SenderThread {
  readonly #memory = SenderQueue.create()
  readonly #queue = new SenderQueue(this.#memory)
  readonly #log: Log
  readonly #start: Start
  readonly #tables: SenderThreadSettings['tables']
  #worker: Worker | undefined
  #hasEnded = false

  constructor(log: Log, start: Start, tables: SenderThreadSettings['tables']) {
    this.#log = log
    this.#start = start
    this.#tables = tables
  }

  get queuedBytes(): number {
    return this.#hasEnded ? 0 : this.#queue.bytes
  }

  /** @returns false when the thread has ended or its queue is full */
  post(work: SenderWork): boolean {
    const bytes = workBytes(work)
    if (this.#hasEnded || this.#queue.bytes + bytes > maxQueuedBytes) return false
    this.#worker ??= this.#begin()
    this.#queue.posted(bytes)
    this.#worker.postMessage(work)
    return true
  }

  /** Ends the thread between two transactions or two reads: `terminate` inside native code may end the process. */
  async stop(clock: Pick<Clock, 'after'>): Promise<void> {
    const worker = this.#worker
    if (worker === undefined || this.#hasEnded) return
    this.#hasEnded = true
    const gone = new Promise((resolve) => worker.once('exit', resolve))
    this.#queue.stop()
    worker.ref()
    worker.postMessage('stop')
    using _late = clock.after(stopMs, () => void worker.terminate())
    await gone
  }

  #begin(): Worker {
    const ports = this.#tables ? [this.#tables.roots.port] : []
    const worker = this.#start({ queue: this.#memory, tables: this.#tables }, ports)
    worker.unref()
    worker.on('message', ({ error }: TablesFailed) => {
      this.#log.warn('sender thread cannot read the database, execution does that work until the next start', { error })
    })
    const ended = (cause: LogFields): void => {
      if (!this.#hasEnded) this.#log.warn('sender thread ended, execution does its work until the next start', cause)
      this.#hasEnded = true
    }
    worker.once('error', (error) => ended({ error }))
    worker.once('exit', (code) => ended({ code }))
    return worker
  }
}

/** Returns both ends of a link. */
function rootLinks(): { readonly execution: RootLink; readonly thread: RootLink } {
  const { port1, port2 } = new MessageChannel()
  const queue = RootQueue.create()
  return { execution: { port: port1, queue }, thread: { port: port2, queue } }
}

/** Counts since the start, and bytes that the threads have not done. `rootParts`: parts of state roots that they computed. */
export type SenderFacts = SenderCounts & { readonly rootParts: number; readonly queuedBytes: number }

export type SenderThreadsOptions = {
  readonly count?: number
  readonly start?: Start
  /**
   * directory of the chain's tables, if the threads also read ahead and compute parts of state roots. An execution thread must have opened it before the
   * first block.
   */
  readonly dir?: string
}

/**
 * Threads that recover senders of blocks that wait for execution. Each gets all work and takes entries that no other thread has claimed. Execution never
 * waits for them. Disposing ends them.
 */
export class SenderThreads implements AsyncDisposable {
  readonly #clock: Pick<Clock, 'after'>
  readonly #threads: readonly SenderThread[]
  /** Takes the keys that execution reads; undefined: the threads do not read ahead. */
  readonly keys: KeyRing | undefined
  /** Links for the execution thread, which takes their ports. Empty: the threads compute no parts of state roots. */
  readonly roots: readonly RootLink[]
  #counts: SenderCounts = { ready: 0, own: 0 }

  constructor(
    { clock, log }: { readonly clock: Pick<Clock, 'after'>; readonly log: Log },
    { count = senderThreadCount(), start = startWorker, dir }: SenderThreadsOptions = {},
  ) {
    this.#clock = clock
    const keys = dir === undefined || count === 0 ? undefined : KeyRing.create()
    const links = Array.from({ length: dir === undefined ? 0 : count }, () => rootLinks())
    this.keys = keys
    this.roots = links.map(({ execution }) => execution)
    this.#threads = Array.from({ length: count }, (_, i) => {
      const roots = links[i]?.thread
      return new SenderThread(log, start, dir !== undefined && keys && roots ? { dir, keys: keys.memory, roots } : undefined)
    })
  }

  get facts(): SenderFacts {
    const rootParts = this.roots.reduce((sum, { queue }) => sum + new RootQueue(queue).parts, 0)
    return { ...this.#counts, rootParts, queuedBytes: this.#threads.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0) }
  }

  /**
   * Begins to recover the senders of a block.
   * @returns their table, which the caller disposes of when the block is executed or refused; undefined when the block is small or no thread takes it
   */
  post(transactions: PackedBytes<SharedArrayBuffer>): SenderTable | undefined {
    const count = transactions.ends.length
    if (count < minTransactions || this.#threads.length === 0) return undefined
    this.keys?.clear()
    const table = SenderTable.create(count, (counts) => this.count(counts))
    const work = { transactions, table: table.memory }
    const takers = this.#threads.filter((thread) => thread.post(work))
    return takers.length === 0 ? undefined : table
  }

  /** Adds the counts of a table that another thread filled. */
  count({ ready, own }: SenderCounts): void {
    this.#counts = { ready: this.#counts.ready + ready, own: this.#counts.own + own }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop(this.#clock)))
  }
}
