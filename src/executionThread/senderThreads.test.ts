import { EventEmitter } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { logTo, silentLog } from '#lib/log'
import { shareBytes } from '#lib/packedBytes'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { SenderQueue, type SenderWork, workBytes } from './senderQueue.ts'
import { minTransactions, SenderTable } from './senderTable.ts'
import { recoverHere, type SenderThreadSettings, SenderThreads, type SenderThreadsOptions, senderThreadCount } from './senderThreads.ts'

/** A thread that does its work only when the test tells it to. */
class IdleWorker extends EventEmitter {
  readonly posted: (SenderWork | 'stop')[] = []
  readonly #queue: SenderQueue
  readonly settings: SenderThreadSettings
  isTerminated = false

  constructor(settings: SenderThreadSettings) {
    super()
    this.settings = settings
    this.#queue = new SenderQueue(settings.queue)
  }

  ref(): void {}
  unref(): void {}

  postMessage(message: SenderWork | 'stop'): void {
    this.posted.push(message)
  }

  async terminate(): Promise<void> {
    this.isTerminated = true
    this.emit('exit', 1)
  }

  doAll(): void {
    for (const work of this.posted.splice(0)) if (work !== 'stop') this.#queue.done(workBytes(work))
  }
}

function threadsOf(count: number, log = silentLog, reading: Pick<SenderThreadsOptions, 'dir'> = {}) {
  const workers: IdleWorker[] = []
  const clock = createManualClock()
  const start = (settings: SenderThreadSettings): Worker => {
    const worker = new IdleWorker(settings)
    workers.push(worker)
    return worker as unknown as Worker
  }
  return { clock, workers, threads: new SenderThreads({ clock, log }, { count, start, ...reading }) }
}

const block = (count: number, sizeBytes = 100) => shareBytes(Array.from({ length: count }, () => new Uint8Array(sizeBytes)))

it.each([
  [1, 0],
  [2, 1],
  [4, 3],
  [64, 4],
])('executionThread/senderThreads: uses on %i cores %i threads', (cores, count) => {
  expect(senderThreadCount(cores)).toBe(count)
})

it('executionThread/senderThreads: posts a block to every thread, and starts none for small blocks', () => {
  const { threads, workers } = threadsOf(2)
  expect(threads.post(block(minTransactions - 1))).toBeUndefined()
  expect(workers).toHaveLength(0)
  const transactions = block(minTransactions)
  const table = threads.post(transactions)
  const work = { transactions, table: table?.memory }
  expect(workers.map(({ posted }) => posted)).toEqual([[work], [work]])
})

it('executionThread/senderThreads: recovers a bounded number of senders in the calling thread, in a later turn', async () => {
  const raws = Array.from({ length: 12 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
  expect(recoverHere(shareBytes(raws.slice(0, minTransactions - 1)), 4)).toBeUndefined()
  const table = new SenderTable(recoverHere(shareBytes(raws), 4) ?? expect.fail())
  await nextTurn()
  expect(raws.map((_, index) => table.at(index))).toEqual(raws.map((_, index) => (index < 4 ? accountOf('alice') : undefined)))
})

it('executionThread/senderThreads: posts nothing on one core', () => {
  const { threads, workers } = threadsOf(0)
  expect(threads.post(block(100))).toBeUndefined()
  expect(workers).toHaveLength(0)
})

it('executionThread/senderThreads: bounds the bytes that wait, takes work again when some is done, and never takes a larger block', () => {
  const { threads, workers } = threadsOf(1)
  const large = block(10, 2 ** 20)
  let posted = 0
  while (posted < 100 && threads.post(large)) posted++
  expect(posted).toBe(6)
  expect(threads.facts.queuedBytes).toBeGreaterThan(60 * 2 ** 20)
  expect(threads.facts.queuedBytes).toBeLessThan(64 * 2 ** 20)
  workers[0]?.doAll()
  expect(threads.facts.queuedBytes).toBe(0)
  expect(threads.post(block(10, 7 * 2 ** 20))).toBeUndefined()
  const table = threads.post(large)
  expect(workers[0]?.posted).toEqual([{ transactions: large, table: table?.memory }])
})

it('executionThread/senderThreads: logs one line when a thread cannot read the database or ends, and continues with the others', () => {
  const lines: string[] = []
  const log = logTo(
    (level, message) => lines.push(`${level} ${message}`),
    () => log,
  )
  const { threads, workers } = threadsOf(2, log)
  threads.post(block(10))
  workers[0]?.emit('message', { error: 'no such file' })
  expect(lines.splice(0)).toEqual([expect.stringMatching(/^warn sender thread cannot read the database/)])
  workers[0]?.emit('error', new Error('out of memory'))
  workers[0]?.emit('exit', 1)
  expect(lines).toEqual([expect.stringMatching(/^warn sender thread ended/)])
  const table = threads.post(block(10))
  expect(workers.map(({ posted }) => posted.length)).toEqual([1, 2])
  expect(workers[1]?.posted[1]).toMatchObject({ table: table?.memory })
  workers[1]?.emit('exit', 1)
  expect(threads.post(block(10))).toBeUndefined()
  expect([workers.length, threads.facts.queuedBytes]).toEqual([2, 0])
})

it('executionThread/senderThreads: adds up how many senders were ready', () => {
  const { threads } = threadsOf(1)
  {
    using table = threads.post(block(10)) ?? expect.fail()
    table.claim(0)
    table.settle(0, `0x${'11'.repeat(20)}` as never)
    for (const index of [0, 1, 2]) table.at(index)
  }
  expect(threads.facts).toMatchObject({ ready: 1, own: 2 })
})

it('executionThread/senderThreads: ends a thread by a message, and terminates it after a second', async () => {
  const { threads, workers, clock } = threadsOf(1)
  threads.post(block(10))
  const worker = workers[0] ?? expect.fail()
  const ended = threads[Symbol.asyncDispose]()
  expect(worker.posted.at(-1)).toBe('stop')
  await clock.advanceMs(900)
  expect(worker.isTerminated).toBe(false)
  await clock.advanceMs(200)
  expect(worker.isTerminated).toBe(true)
  await ended
  expect(threads.post(block(10))).toBeUndefined()
})

it('executionThread/senderThreads: drops the keys of earlier blocks with each block', () => {
  const { threads, workers } = threadsOf(2, silentLog, { dir: '/chain' })
  const keys = threads.keys ?? expect.fail()
  keys.note(new Uint8Array(32))
  threads.post(block(10))
  expect(keys.take()).toBeUndefined()
  for (const { settings } of workers) expect(settings.tables).toMatchObject({ dir: '/chain', keys: keys.memory })
})

it('executionThread/senderThreads: takes no keys without tables or on one core', () => {
  expect(threadsOf(1).threads.keys).toBeUndefined()
  expect(threadsOf(0, silentLog, { dir: '/chain' }).threads.keys).toBeUndefined()
})
