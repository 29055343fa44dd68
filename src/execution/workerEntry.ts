// Runs in a thread of its own: the only writer of the chain's tables.
import { once } from 'node:events'
import { type MessagePort, workerData } from 'node:worker_threads'
import type { Genesis } from '#chain/genesis'
import { createReferenceEvm } from '#evm/referenceEvm'
import { systemClock } from '#lib/clock'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { readHeads } from './chainStore.ts'
import { createExecution, type Execution } from './execution.ts'
import { serveEngine } from './workerEngine.ts'
import { createSentLog, WorkerOutbox } from './workerOutbox.ts'
import type { ServedPool } from './workerPool.ts'
import { journalDir, sendError, type ToWorker, type WorkerSettings } from './workerProtocol.ts'

const refuse = (): never => {
  throw new RangeError('this execution has no transaction pool')
}
const noPool: ServedPool = { add: refuse, get: refuse, nextNonce: refuse, size: refuse, content: refuse, limitData: refuse }

/** Asked of the other end, and only when the store is empty: it may be large. */
async function genesisFor(kv: Kv, port: MessagePort, outbox: WorkerOutbox): Promise<Genesis | undefined> {
  {
    using reader = kv.snapshot()
    if (readHeads(reader)) return undefined
  }
  outbox.send({ kind: 'genesis-wanted' })
  const [message] = (await once(port, 'message')) as [ToWorker]
  return message.kind === 'genesis' ? message.genesis : undefined
}

async function run({ port, dir, config, minFreeBytes }: WorkerSettings, outbox: WorkerOutbox): Promise<void> {
  const log = createSentLog(outbox, 'execution')
  await using kv = openLmdbKv(dir, Object.values(tables))
  agreeOnSchema(kv, chainSchema)
  const given = await genesisFor(kv, port, outbox)
  const genesis = (): Genesis => {
    if (given === undefined) throw new RangeError('closed before the chain could begin')
    return given
  }
  using journal = openFileJournal(journalDir(dir), log)
  // the first record is published before there is an execution to ask
  let sizes: Execution['sizes'] = () => ({ journalBytes: journal.sizeBytes, treeBytes: 0, overlayBlocks: 0 })
  await using execution = createExecution(
    {
      kv,
      journal,
      evm: createReferenceEvm(),
      config,
      genesis,
      clock: systemClock,
      log,
      onCommit: (phase) => outbox.send({ kind: 'commit', phase }),
      onPublish: (record) => outbox.publish(record, sizes()),
      onExecuted({ header: { number, gasUsed }, transactions }, ms): void {
        outbox.add({ kind: 'executed', facts: { number, gasUsed, transactions: transactions.length, ms } })
      },
    },
    { minFreeBytes },
  )
  sizes = (): ReturnType<Execution['sizes']> => execution.sizes()
  outbox.send({ kind: 'opened' })
  await serveEngine(port, { engine: execution, pool: noPool }, outbox)
}

const settings = workerData as WorkerSettings
const outbox = new WorkerOutbox(settings.port)
try {
  await run(settings, outbox)
} catch (error) {
  outbox.send({ kind: 'failed', error: sendError(error) })
} finally {
  settings.port.close()
}
