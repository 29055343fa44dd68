// Runs in a thread of its own: the only writer of the chain's tables.
import { once } from 'node:events'
import { type MessagePort, workerData } from 'node:worker_threads'
import type { Genesis } from '#chain/genesis'
import { createReferenceEvm } from '#evm/referenceEvm'
import { systemClock } from '#lib/clock'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { readHeads } from './chainStore.ts'
import { createExecution } from './execution.ts'
import { serveEngine } from './workerEngine.ts'
import { createSentLog, WorkerOutbox } from './workerOutbox.ts'
import { sendError, type ToWorker, type WorkerSettings } from './workerProtocol.ts'

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

async function run({ port, dir, config }: WorkerSettings, outbox: WorkerOutbox): Promise<void> {
  await using kv = openLmdbKv(dir, Object.values(tables))
  agreeOnSchema(kv, chainSchema)
  const given = await genesisFor(kv, port, outbox)
  const genesis = (): Genesis => {
    if (given === undefined) throw new RangeError('closed before the chain could begin')
    return given
  }
  const execution = createExecution({
    kv,
    evm: createReferenceEvm(),
    config,
    genesis,
    clock: systemClock,
    log: createSentLog(outbox, 'execution'),
    onCommit: (phase) => outbox.send({ kind: 'commit', phase }),
    onExecuted({ header, transactions }, ms): void {
      outbox.add({ kind: 'executed', facts: { number: header.number, gasUsed: header.gasUsed, transactions: transactions.length, ms } })
    },
  })
  outbox.publish(execution.published)
  outbox.send({ kind: 'opened' })
  await serveEngine(
    port,
    {
      insert: (payload) => execution.insert(payload),
      build: (parent, attributes) => execution.build(parent, attributes),
      async setHeads(heads): Promise<void> {
        await execution.setHeads(heads)
        outbox.publish(execution.published)
      },
      heads: () => execution.heads(),
      payload: (at) => execution.payload(at),
      storageRoot: (account, block) => execution.storageRoot(account, block),
    },
    outbox,
  )
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
