import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { executionFault } from '#block/faults'
import type { Execution } from '#blockchain/execution'
import type { Engine } from '#engine/port'
import { errorMessage } from '#lib/fault'
import type { Supervisor } from '#lib/supervisor'
import { openOlderStates } from '#proofs/olderStates'
import { openChainReader } from '#store/chainTables'
import type { TransactionPool } from '#types/transactionPool'
import { ExecutionClient, type ExecutionClientDeps } from './executionClient.ts'
import { PublishedSequence } from './publishedSequence.ts'
import type { SenderThreads } from './senderThreads.ts'
import type { ExecutionSizes, ReaderSettings, WorkerSettings } from './wire/protocol.ts'

export type ExecutionWorkerDeps = Omit<ExecutionClientDeps, 'config' | 'shown' | 'watch'> & {
  /** watches the thread, and on several cores a thread of its own that writes commits; absent: nothing is watched, and execution writes them */
  readonly supervisor?: Supervisor
  /** with the keys that they read ahead, and their links for parts of state roots */
  readonly senders?: Pick<SenderThreads, 'keys' | 'roots'>
}

export type ExecutionWorkerOptions = Omit<WorkerSettings, 'port' | 'shown' | 'watch' | 'heartbeat' | 'commits' | 'keys' | 'roots'>

/** Execution in its own thread, the only writer of its tables, with reads in this thread. Disposing commits all published blocks. */
export type ExecutionWorker = Engine &
  Pick<Execution, 'published' | 'view' | 'pending'> &
  Pick<ExecutionClient, 'running' | 'abandoned' | 'abandonedCounts' | 'callBytes' | 'complete' | 'enter'> &
  AsyncDisposable & {
    /** Returns the sizes that execution held at its last record. */
    sizes(): ExecutionSizes
    /** The transaction pool. When the thread ends, the outcome of unanswered transactions is unknown. */
    readonly pool: TransactionPool
    /** Reads older states from recorded proofs too: here, and in readers that are opened later. @param dir of a proofs thread of this process */
    readProofs(dir: string): void
    /** Returns settings for `openExecutionReader` in another thread; send them there and transfer the port. */
    reader(): ReaderSettings
    /** Rejects with the cause when the thread ends by itself; never resolves. */
    readonly ended: Promise<never>
  }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./threadEntry${extname(import.meta.url)}`, import.meta.url)

/**
 * Starts the execution thread, which opens the tables in a directory and the chain in them. It is never terminated: inside a transaction of lmdb that
 * would leave a lock that the process waits for at its own end. The supervisor kills the process when the thread does not close.
 * @returns when the chain can be read and built on
 * @throws Fault of the store, WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED, EXECUTION_STOPPED (fatal)
 */
export async function startExecutionWorker(deps: ExecutionWorkerDeps, options: ExecutionWorkerOptions): Promise<ExecutionWorker> {
  const { port1, port2 } = new MessageChannel()
  const { dir, config } = options
  const shown = PublishedSequence.create()
  const watch = ExecutionWatch.create()
  const supervised = deps.supervisor?.watch()
  const commits = availableParallelism() > 1 ? deps.supervisor?.watch() : undefined
  const settings: WorkerSettings = {
    ...{ ...options, port: port2, shown, watch },
    ...(deps.senders?.keys && { keys: deps.senders.keys.memory }),
    ...(deps.senders && { roots: deps.senders.roots }),
    ...(supervised && { heartbeat: supervised.settings }),
    ...(commits && { commits: { heartbeat: commits.settings } }),
  }
  const client = new ExecutionClient(port1, { ...deps, config, shown: new PublishedSequence(shown), watch: new ExecutionWatch(watch) })
  const transferList = [port2, ...(settings.roots ?? []).map(({ port }) => port)]
  const worker = new Worker(entry, { workerData: settings, transferList, name: 'basalt execution' })
  const gone = Promise.withResolvers<void>()
  worker.once('error', (error) => client.fail(executionFault('EXECUTION_STOPPED', { reason: errorMessage(error) }, error)))
  worker.once('exit', (code) => {
    client.fail(executionFault('EXECUTION_STOPPED', { reason: `its thread ended with code ${code}` }))
    supervised?.[Symbol.dispose]()
    commits?.[Symbol.dispose]()
    gone.resolve()
  })
  await using parts = new AsyncDisposableStack()
  parts.defer(async () => {
    client.requestClose()
    await gone.promise
  })
  await client.opened
  const source = parts.use(openChainReader(dir))
  client.readFrom(source)
  parts.defer(() => client.forgetSnapshot())
  const older = parts.use(new AsyncDisposableStack())
  let proofsDir: string | undefined
  function readProofs(from: string): void {
    proofsDir = from
    client.readFrom(source, older.use(openOlderStates(from)))
  }
  function reader(): ReaderSettings {
    const { port1: here, port2: there } = new MessageChannel()
    const taken = new SharedArrayBuffer(4)
    client.addReader({ port: here, taken })
    return { port: there, dir, config, shown, taken, ...(proofsDir !== undefined && { proofsDir }) }
  }
  const kept = parts.move()
  return Object.assign(client, { reader, readProofs, [Symbol.asyncDispose]: () => kept.disposeAsync() })
}
