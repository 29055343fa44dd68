import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { executionFault } from '#block/faults'
import type { Execution } from '#blockchain/execution'
import type { Engine } from '#engine/port'
import { errorMessage } from '#lib/fault'
import type { Supervisor } from '#lib/supervisor'
import { openLmdbReader } from '#store/lmdbReader'
import { tables } from '#store/tables'
import type { TransactionPool } from '#types/transactionPool'
import { ExecutionClient, type ExecutionClientDeps } from './executionClient.ts'
import { PublishedSequence } from './publishedSequence.ts'
import type { ExecutionSizes, ReaderSettings, WorkerSettings } from './wire/protocol.ts'

export type ExecutionWorkerDeps = Omit<ExecutionClientDeps, 'config' | 'shown' | 'watch'> & {
  /** watches the thread; absent: nobody does */
  readonly supervisor?: Supervisor
}

export type ExecutionWorkerOptions = Omit<WorkerSettings, 'port' | 'shown' | 'watch' | 'heartbeat'>

/** Execution in a thread of its own, the only writer of its tables; it is read in this thread. Disposing of it commits what there is. */
export type ExecutionWorker = Engine &
  Pick<Execution, 'published' | 'view' | 'pending'> &
  Pick<ExecutionClient, 'running' | 'abandoned' | 'abandonedCounts'> &
  AsyncDisposable & {
    /** What it held when it published last. */
    sizes(): ExecutionSizes
    /** What waits for a block. Of transactions that were not answered yet when the worker ends nothing is known. */
    readonly pool: TransactionPool
    /** For one more thread that reads the chain, with `openExecutionReader`: to be sent there, its port moved. */
    reader(): ReaderSettings
    /** Rejects when the worker ends by itself, with the fault that says why; never resolves. */
    readonly ended: Promise<never>
  }

/** The sources run as they are in development, their JavaScript in the package: the worker's file has the extension of this one. */
const entry = new URL(`./threadEntry${extname(import.meta.url)}`, import.meta.url)

/**
 * Starts the worker, which opens the tables in a directory and the chain in them. The worker is never terminated: inside a transaction of lmdb that
 * leaves a lock which the process waits for at its own end. A worker that does not close is left to the supervisor, which kills the process.
 * @returns when the chain can be read and built on
 * @throws Fault of the store, WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED, EXECUTION_STOPPED (fatal)
 */
export async function startExecutionWorker(deps: ExecutionWorkerDeps, options: ExecutionWorkerOptions): Promise<ExecutionWorker> {
  const { port1, port2 } = new MessageChannel()
  const { dir, config } = options
  const shown = PublishedSequence.create()
  const watch = ExecutionWatch.create()
  const supervised = deps.supervisor?.watch()
  const settings: WorkerSettings = { ...options, port: port2, shown, watch, ...(supervised && { heartbeat: supervised.settings }) }
  const client = new ExecutionClient(port1, { ...deps, config, shown: new PublishedSequence(shown), watch: new ExecutionWatch(watch) })
  const worker = new Worker(entry, { workerData: settings, transferList: [port2], name: 'basalt execution' })
  const gone = Promise.withResolvers<void>()
  worker.once('error', (error) => client.fail(executionFault('EXECUTION_STOPPED', { reason: errorMessage(error) }, error)))
  worker.once('exit', (code) => {
    client.fail(executionFault('EXECUTION_STOPPED', { reason: `its thread ended with code ${code}` }))
    supervised?.[Symbol.dispose]()
    gone.resolve()
  })
  await using parts = new AsyncDisposableStack()
  parts.defer(async () => {
    client.requestClose()
    await gone.promise
  })
  await client.opened
  client.readFrom(parts.use(openLmdbReader(dir, Object.values(tables))))
  parts.defer(() => client.forgetSnapshot())
  function reader(): ReaderSettings {
    const { port1: here, port2: there } = new MessageChannel()
    const taken = new SharedArrayBuffer(4)
    client.addReader({ port: here, taken })
    return { port: there, dir, config, shown, taken }
  }
  const kept = parts.move()
  return Object.assign(client, { reader, [Symbol.asyncDispose]: () => kept.disposeAsync() })
}
