import type { MessagePort } from 'node:worker_threads'
import { expect, it } from 'vitest'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { keptOverlays, RecordPublisher, WorkerOutbox } from './outbox.ts'
import { PublishedSequence } from './publishedSequence.ts'

const block = (hash: string): ExecutedBlock => ({ hash }) as unknown as ExecutedBlock
const [a, b, c, d, other] = [block('a'), block('b'), block('c'), block('d'), block('b')]

it.each([
  ['nothing before', [], [a, b], 0, 0],
  ['nothing now', [a, b], [], 0, 0],
  ['a longer chain', [a, b], [a, b, c], 0, 2],
  ['the same', [a, b], [a, b], 0, 2],
  ['a shorter chain', [a, b, c], [a, b], 0, 2],
  ['committed blocks removed from the front', [a, b, c], [b, c, d], 1, 3],
  ['another branch', [a, b, c], [a, other, d], 0, 1],
  ['a branch from below', [b, c], [a, b, c], 0, 0],
])('executionThread/outbox: keeps after %s the overlays that continue the previous ones', (_case, before, now, from, to) => {
  expect(keptOverlays(before, now)).toEqual({ from, to })
  expect([...before.slice(from, to), ...now.slice(to - from)]).toEqual(now)
})

it('executionThread/outbox: disconnects a reader that takes no record at its bound, not one that takes them', () => {
  const publisher = new RecordPublisher(new PublishedSequence(PublishedSequence.create()))
  const readers = ['slow', 'quick'].map((name) => {
    const taken = new SharedArrayBuffer(4)
    const reader = { name, taken: new Int32Array(taken), sent: 0, isCut: false }
    const port = {
      postMessage: () => void reader.sent++,
      close() {
        reader.isCut = true
      },
    }
    publisher.join(new WorkerOutbox(port as unknown as MessagePort, taken, { maxBytes: 1_000, maxRecords: 3 }))
    return reader
  })
  const record = { overlays: [] } as unknown as HeadRecord
  for (let number = 1; number <= 4; number++) {
    publisher.publish(record, { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0 })
    for (const { name, taken } of readers) if (name === 'quick') Atomics.store(taken, 0, number)
  }
  expect(readers).toMatchObject([
    { name: 'slow', sent: 3, isCut: true },
    { name: 'quick', sent: 4, isCut: false },
  ])
})
