import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import { Driver, defaultDriverOptions } from '#consensus/driver'
import { consensusMetrics } from '#consensus/metrics'
import type { SafeHeadStore } from '#consensus/ports'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { createPipeline } from '#derive/pipeline'
import { readRecordedChain } from '#devnet/recordedChain'
import { createL1Source, defaultL1Options } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { equalBytes } from '#lib/bytes'
import { type Clock, systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { decodeBlock } from '#types/block'
import { createMemoryTable } from '../harness/consensus/execution.ts'
import { createMemoryEngine, executeNothing, type MemoryEngine } from '../harness/engine/engine.ts'
import { forkRecording } from '../harness/l1/fork.ts'
import { type FaultyL1, type PlannedFault, startFaultyL1 } from '../harness/l1/recordedL1.ts'

const { l1: recording, config, blocks, safeHeads } = readRecordedChain()
const payloads = blocks.map(({ raw }) => payloadOfBlock(decodeBlock(raw)))
const hashes = blocks.map(({ hash }) => hash)
const lastL1 = recording.blocks.length - 1

/** Factor by which timers run faster. */
const haste = 20
const fastClock: Clock = {
  nowMs: () => systemClock.nowMs() * haste,
  elapsedMs: () => systemClock.elapsedMs() * haste,
  delay: (ms, signal) => systemClock.delay(ms / haste, signal),
  after: (ms, run) => systemClock.after(ms / haste, run),
}

/** Engine with the recorded blocks; other attributes give a made-up block. */
function createEngine(): MemoryEngine {
  const genesis = payloads[0] ?? expect.fail()
  const ref = l2RefOf(config, genesis)
  return createMemoryEngine({ chain: [genesis], heads: { unsafe: ref, safe: ref, finalized: ref } }, (parent, attributes) => {
    const recorded = payloads[parent.blockNumber + 1]
    const isSame =
      recorded?.parentHash === parent.blockHash &&
      recorded.transactions.length === attributes.transactions.length &&
      recorded.transactions.every((raw, i) => equalBytes(raw, attributes.transactions[i] ?? new Uint8Array()))
    return isSame ? recorded : executeNothing(parent, attributes)
  })
}

type Run = AsyncDisposable & {
  readonly engine: MemoryEngine
  readonly driver: Driver
  readonly store: SafeHeadStore
  readonly lines: readonly string[]
  /** Waits until L1 is read up to this block. */
  reached(l1Number: number, l1Hash: unknown): Promise<void>
}

function run(server: FaultyL1): Run {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const deps = { clock: fastClock, random: () => 0.5, log }
  const l1 = createL1Source(
    { ...deps, fetch, metrics: l1Metrics.register(new Registry()) },
    { ...defaultL1Options, rpcUrls: [server.url], beaconUrls: [server.url], chainId: 900 },
  )
  const engine = createEngine()
  const store = createSafeHeadStore(createMemoryTable())
  const driver = new Driver(
    {
      ...deps,
      engine,
      l1,
      store,
      metrics: consensusMetrics.register(new Registry()),
      createPipeline: (start) => createPipeline(config, start, log),
    },
    { ...defaultDriverOptions, config, headPollMs: 500, labelPollMs: 1_000 },
  )
  const stop = new AbortController()
  let failure: unknown
  const running = driver.run(stop.signal).catch((error: unknown) => {
    failure = error
  })
  return {
    engine,
    driver,
    store,
    lines,
    async reached(number, hash) {
      for (let waited = 0; waited < 20_000; waited += 20) {
        if (failure) throw failure
        const { origin, wait } = driver.status()
        if (origin?.number === number && origin.hash === hash && wait?.reason === 'l1-head') return
        await systemClock.delay(20)
      }
      throw new Error(`stuck: ${JSON.stringify(driver.status())}`)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      l1[Symbol.dispose]()
    },
  }
}

const l1Hash = (number: number): unknown => recording.blocks[number]?.block['hash']

function expectRightChain({ engine, store }: Run): void {
  expect(engine.hashes()).toEqual(hashes)
  const seen = safeHeads.map((_, number) => store.atOrBelow(number)?.safe.number ?? 0)
  expect(seen).toEqual(safeHeads)
}

const faults: readonly (PlannedFault & { readonly code: string })[] = [
  { kind: 'timeout', times: 1, on: /Receipts/, code: 'L1_UNREACHABLE' },
  { kind: 'rate-limit', times: 2, code: 'L1_RATE_LIMITED' },
  { kind: 'server-error', times: 3, code: 'L1_UNREACHABLE' },
  { kind: 'truncated', times: 2, on: /Receipts/, code: 'L1_BAD_ANSWER' },
  { kind: 'other-block', times: 2, on: /Receipts/, code: 'L1_BLOCK_MISMATCH' },
  { kind: 'wrong-hash', times: 2, on: /Receipts/, code: 'L1_BLOCK_MISMATCH' },
  { kind: 'wrong-receipts', times: 8, on: /Receipts/, code: 'L1_BLOCK_MISMATCH' },
  { kind: 'no-blob', times: 4, on: /blob/, code: 'BLOB_UNAVAILABLE' },
  { kind: 'wrong-blob', times: 2, on: /sidecars/, code: 'BLOB_MISMATCH' },
  { kind: 'not-json', times: 2, code: 'L1_BAD_ANSWER' },
]

it('faults/l1: logs each temporary failure of an endpoint, and derives the correct chain', async () => {
  await using server = await startFaultyL1(recording, 3)
  await using node = run(server)
  for (const [i, fault] of faults.entries()) {
    server.fail(fault)
    const head = Math.min(lastL1, 12 + i * 8)
    server.l1.reveal(head)
    await node.reached(head, l1Hash(head))
  }
  server.l1.reveal(lastL1)
  await node.reached(lastL1, l1Hash(lastL1))
  expectRightChain(node)
  expect(server.waiting).toEqual([])
  for (const { code } of faults) expect(node.lines.some((line) => line.includes(code))).toBe(true)
}, 60_000)

it.each([1, 20])(
  'faults/l1: derives the new branch after a reorg of %i L1 blocks',
  async (depth) => {
    const until = 70
    const branch = forkRecording(recording, until + 1 - depth, until)
    await using server = await startFaultyL1(branch, until)
    await using node = run(server)
    await node.reached(until, branch.blocks[until]?.block['hash'])
    server.replay(recording, lastL1)
    await node.reached(lastL1, l1Hash(lastL1))
    expectRightChain(node)
    expect(node.driver.status().resets).toBeGreaterThan(0)
  },
  60_000,
)
