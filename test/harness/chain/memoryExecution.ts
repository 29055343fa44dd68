// Execution thread over stores in memory. Such a thread may be terminated at any time; terminating a thread during an LMDB flush aborts the process.
import { once } from 'node:events'
import { type MessagePort, workerData } from 'node:worker_threads'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { createSenders } from '#block/execution/senders'
import { createExecution, type Execution } from '#blockchain/execution'
import type { Genesis } from '#chainspec/genesis'
import { serveEngine } from '#executionThread/executionServer'
import { RecordPublisher, WorkerOutbox } from '#executionThread/outbox'
import { PublishedSequence } from '#executionThread/publishedSequence'
import type { ToWorker, WorkerSettings } from '#executionThread/wire/protocol'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createTxPool } from '#txpool/txPool'

async function genesisFrom(port: MessagePort, outbox: WorkerOutbox): Promise<Genesis> {
  outbox.send({ kind: 'genesis-wanted' })
  const [message] = (await once(port, 'message')) as [ToWorker]
  if (message.kind !== 'genesis') throw new RangeError(`expected genesis, received ${message.kind}`)
  return message.genesis
}

async function run({
  port,
  config,
  minFreeBytes,
  maxPayloadMs = 60_000,
  maxPendingMs = 4_000,
  pool: limits,
  ...shared
}: WorkerSettings): Promise<void> {
  const { shown } = shared
  const watch = new ExecutionWatch(shared.watch)
  const outbox = new WorkerOutbox(port)
  const genesis = await genesisFrom(port, outbox)
  const senders = createSenders({ maxBytes: 2 ** 20 })
  const common = { config, senders, clock: systemClock, log: silentLog, watch }
  let opened: Execution | undefined
  const view = () => {
    if (opened === undefined) throw new RangeError('pool read before the chain was opened')
    return opened.view()
  }
  const pool = createTxPool({ ...common, view, journal: createMemoryJournal() }, limits)
  const publisher = new RecordPublisher(new PublishedSequence(shown))
  publisher.join(outbox)
  await using kv = createMemoryKv()
  await using execution = createExecution(
    {
      ...common,
      kv,
      journal: createMemoryJournal(),
      evm: sharedEvm,
      genesis: () => genesis,
      pool,
      onPublish(record): void {
        publisher.publish(record, { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0, ...opened?.sizes(), pool: pool.facts() })
        if (opened) pool.onPublished(record)
      },
    },
    { minFreeBytes, maxPayloadMs, maxPendingMs },
  )
  opened = execution
  pool.onPublished(execution.published)
  outbox.send({ kind: 'opened' })
  await serveEngine(
    port,
    {
      pool,
      limitBlocks: (change) => execution.limitBlocks(change),
      engine: execution,
      enter: (parts) => execution.enter(parts),
      complete: async () => {},
      pending: execution.pending,
      onEngineCall: () => watch.took(),
    },
    outbox,
  )
  port.close()
}

await run(workerData as WorkerSettings)
