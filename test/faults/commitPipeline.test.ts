import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MessagePort, WorkerOptions } from 'node:worker_threads'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { readHeadsSequence } from '#blockchain/chainStore'
import type { CommitRequest } from '#blockchain/commit/committer'
import { createExecution } from '#blockchain/execution'
import { CommitPipeline } from '#executionThread/commitPipeline'
import { ThreadProgress } from '#executionThread/waitedThread'
import type { FromWriteThread } from '#executionThread/wire/commitRequests'
import { systemClock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { silentLog } from '#lib/log'
import { openChainKv, openChainWriter } from '#store/chainTables'
import { storeFault } from '#store/faults'
import type { Kv } from '#store/ports'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { sharedEvm } from '#test/harness/evm/sharedEvm'

const threads = vi.hoisted(() => ({ names: [] as string[], fails: false }))
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>()
  return {
    ...real,
    Worker: function start(entry: URL, options: WorkerOptions) {
      threads.names.push(options.name ?? '')
      return threads.fails ? new FullDisk(options.workerData.port) : new real.Worker(entry, options)
    },
  }
})

/** Write thread that finds no room for its first write. */
class FullDisk extends EventEmitter {
  constructor(port: MessagePort) {
    super()
    const error = transferError(storeFault('DISK_FULL', { dir: 'dir', reason: 'No space left on device' }))
    const outcomes: FromWriteThread[] = [{ error }]
    port.on('message', (message) => {
      if (message === 'close') this.emit('exit', 0)
      else port.postMessage(outcomes.shift() ?? { ms: 1 })
    })
  }
}

const base = mkdtempSync(join(tmpdir(), 'basalt-pipeline-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
beforeEach(() => {
  threads.names.length = 0
  threads.fails = false
})
const { genesis, config } = smallChain(scheduleTo('isthmus'))
const id = config.genesis.l2
/** Request that sets the heads again. */
const request = (sequence: number): CommitRequest => ({
  committed: id,
  branch: { ancestor: id, blocks: [] },
  heads: { unsafe: id, safe: id, finalized: id },
  sequence,
})

let dirs = 0
async function openPipeline() {
  await using opening = new AsyncDisposableStack()
  const dir = join(base, String(dirs++))
  const kv = opening.use(openChainKv(dir))
  await createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog }).close()
  const outcomes: FromWriteThread[] = []
  const progress = new ThreadProgress()
  const writer = opening.use(openChainWriter(dir, () => progress.row()))
  const deps = {
    kv: writer,
    clock: systemClock,
    progress,
    onWait: () => {},
    onOutcome: (outcome: FromWriteThread) => void outcomes.push(outcome),
  }
  const pipeline = new CommitPipeline(deps, { dir, memoryMaxBytes: Number.POSITIVE_INFINITY, heartbeat: undefined })
  const kept = opening.move()
  return { kv, pipeline, outcomes, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function stored(kv: Kv): number | undefined {
  using reader = kv.snapshot()
  return readHeadsSequence(reader)
}

const written = { ms: expect.any(Number) }

it('faults/commitPipeline: writes requests in this thread until the write thread is started, then two are in progress', async () => {
  await using opened = await openPipeline()
  const { kv, pipeline, outcomes } = opened
  pipeline.commit(request(1))
  pipeline.commit(request(2))
  expect([outcomes, stored(kv), threads.names]).toEqual([[written, written], 2, []])
  pipeline.start()
  pipeline.commit(request(3))
  expect(pipeline.hasNext).toBe(false)
  pipeline.commit(request(4))
  expect([outcomes.length, pipeline.hasNext]).toEqual([2, true])
  pipeline.settle()
  expect([outcomes, stored(kv), pipeline.hasNext]).toEqual([Array(4).fill(written), 4, false])
  await pipeline[Symbol.asyncDispose]()
  expect(threads.names).toEqual(['basalt writes'])
})

it('faults/commitPipeline: writes both requests in progress before it ends', async () => {
  await using opened = await openPipeline()
  const { kv, pipeline, outcomes } = opened
  pipeline.start()
  pipeline.commit(request(1))
  pipeline.commit(request(2))
  await pipeline[Symbol.asyncDispose]()
  expect([outcomes, stored(kv)]).toEqual([[written, written], 2])
})

it('faults/commitPipeline: fails the second request with the error of the first, and takes later ones (DISK_FULL)', async () => {
  threads.fails = true
  await using opened = await openPipeline()
  const { pipeline, outcomes } = opened
  pipeline.start()
  pipeline.commit(request(1))
  pipeline.commit(request(2))
  const full = { error: { fault: { code: 'DISK_FULL', severity: 'retry' } } }
  await vi.waitFor(() => expect(outcomes).toMatchObject([full, full]))
  pipeline.commit(request(3))
  await vi.waitFor(() => expect(outcomes).toMatchObject([full, full, written]))
  await pipeline[Symbol.asyncDispose]()
})
