import { type MessagePort, Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { systemClock } from '#lib/clock'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { zeroHash } from '#types/ids'
import { RecordPublisher, WorkerOutbox } from './outbox.ts'
import { PublishedChain } from './publishedChain.ts'
import { PublishedSequence } from './publishedSequence.ts'
import type { FromWorker, PublishedRecord } from './wire/protocol.ts'

const { config } = smallChain(scheduleTo('isthmus'))
const sizes = { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0 }
const genesis = {
  number: 0,
  hash: zeroHash,
  parentHash: zeroHash,
  timestamp: 0,
  l1Origin: { number: 0, hash: zeroHash },
  sequenceNumber: 0,
}
const record = {
  heads: { unsafe: genesis, safe: genesis, finalized: genesis },
  committed: genesis,
  base: genesis,
  overlays: [],
} as unknown as HeadRecord

/** Ports that note the shown record at each message. */
function publishing() {
  const shared = PublishedSequence.create()
  const shown = new PublishedSequence(shared)
  const sent: { readonly to: string; readonly number: number; readonly shown: number }[] = []
  const publisher = new RecordPublisher(shown)
  const outboxTo = (to: string) =>
    new WorkerOutbox({
      postMessage: (messages: readonly FromWorker[]) => {
        for (const { number } of messages as readonly PublishedRecord[]) sent.push({ to, number, shown: shown.latest })
      },
    } as unknown as MessagePort)
  return { shared, shown, sent, publisher, outboxTo }
}

it('executionThread/publishedSequence: shows a record after it was sent to every reader, and sends a late reader the last shown one', () => {
  const { shown, sent, publisher, outboxTo } = publishing()
  for (const to of ['a', 'b']) publisher.join(outboxTo(to))
  publisher.publish(record, sizes)
  expect([sent.splice(0), shown.latest]).toEqual([['a', 'b'].map((to) => ({ to, number: 1, shown: 0 })), 1])
  const late = outboxTo('c')
  publisher.join(late)
  expect(sent.splice(0)).toEqual([{ to: 'c', number: 1, shown: 1 }])
  publisher.leave(late)
  publisher.publish(record, sizes)
  expect(sent.map(({ to, number }) => `${to}${number}`)).toEqual(['a2', 'b2'])
})

it('executionThread/publishedSequence: takes no record before it is shown, and continues when the writer is gone', async () => {
  const { shared, shown } = publishing()
  const chain = new PublishedChain({ config, shown, clock: systemClock, drain: () => {} })
  const { overlays: _none, ...heads } = record
  const published = (number: number): PublishedRecord => ({
    kind: 'published',
    number,
    heads,
    kept: { from: 0, to: 0 },
    added: [],
    pending: undefined,
    sizes,
  })
  const shows = `const { workerData: s } = require('node:worker_threads'); const a = new Int32Array(s)
    Atomics.wait(a, 0, 0, 40); Atomics.store(a, 0, 3); Atomics.notify(a, 0)`
  const thread = new Worker(shows, { eval: true, workerData: shared })
  await new Promise((resolve) => thread.once('online', resolve))
  chain.take(published(3))
  expect(shown.latest).toBe(3)
  await new Promise((resolve) => thread.once('exit', resolve))

  const beginMs = performance.now()
  chain.take(published(4))
  expect(performance.now() - beginMs).toBeGreaterThan(90)
  expect(chain.published).toMatchObject({ committed: genesis, overlays: [] })
})
