import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { headerOfPayload } from '#engine/payloadHeader'
import { createWasmEvm } from '#evm/wasmEvm'
import { startExecutionWorker } from '#executionThread/executionThread'
import type { KeyRing } from '#executionThread/keyRing'
import { SenderThreads, type SenderThreadsOptions } from '#executionThread/senderThreads'
import { systemClock } from '#lib/clock'
import { logTo, silentLog } from '#lib/log'
import { shareBytes } from '#lib/packedBytes'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { decodeTransaction, encodeTransaction, type SignedTransaction } from '#types/transaction'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chain/blocks.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-senders-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('jovian')
const { genesis, config } = smallChain(schedule)
const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const startWith = (senders: SenderThreads, dir = newDir()) => startExecutionWorker({ ...deps, senders }, { dir, config, minFreeBytes: 0 })

const names = ['alice', 'bob'] as const
/** Transfers of both accounts in turn. */
const transfers = (count: number, from = 0): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, index) => signedBy(names[index % 2] ?? 'alice', { nonce: BigInt((from + index) >> 1) }))

/** Two blocks of 200 transfers, built without sender threads. */
async function honestBlocks(): Promise<readonly Payload[]> {
  await using execution = createExecution({ ...deps, kv: createMemoryKv(), evm: createWasmEvm(), config })
  const payloads: Payload[] = []
  for (const number of [1, 2]) {
    const { unsafe } = await execution.heads()
    const built = await execution.build(unsafe, attributesAt(schedule, number, transfers(200, 200 * (number - 1))))
    if (built.kind === 'invalid') throw new Error(built.reason)
    payloads.push(built.payload)
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, built.payload) })
  }
  return payloads
}

const [first = expect.fail(), second = expect.fail()] = await honestBlocks()

/** Inserts both blocks into a new chain. */
async function insertBoth(senders: SenderThreads, dir?: string): Promise<void> {
  await using worker = await startWith(senders, dir)
  for (const payload of [first, second]) {
    expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
    await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  }
}

it('faults/senderThreads: execution takes the senders that threads have recovered, for inserted and for built blocks', async () => {
  await using senders = new SenderThreads(deps, { count: 1 })
  await using worker = await startWith(senders)
  // the thread has started when it has done its first work
  senders.post(shareBytes(first.transactions))
  await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000 }).toBe(0)
  expect(await worker.insert(first)).toEqual({ kind: 'valid' })
  const inserted = senders.facts
  expect(inserted.ready + inserted.own).toBe(200)
  expect(inserted.ready).toBeGreaterThan(0)
  await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, first) })
  const built = await worker.build(l2RefOf(config, first), attributesAt(schedule, 2, transfers(200, 200)))
  expect(built).toMatchObject({ kind: 'built', payload: { blockHash: second.blockHash } })
  expect(senders.facts.ready + senders.facts.own).toBe(400)
  expect(senders.facts.ready).toBeGreaterThan(inserted.ready)
})

it('faults/senderThreads: each sender is right or absent while two threads and a reader share a table', async () => {
  await using senders = new SenderThreads(deps, { count: 2 })
  const raws = transfers(200)
  const expected = raws.map((_raw, index) => accountOf(names[index % 2] ?? ''))
  let ready = 0
  for (let round = 0; round < sampleOf(10, 30); round++) {
    using table = senders.post(shareBytes(raws)) ?? expect.fail()
    for (const [index, sender] of expected.entries()) {
      const untilMs = performance.now() + Math.random() * 0.01 * round
      while (performance.now() < untilMs) void 0
      const found = table.at(index)
      if (found !== undefined) ready++
      expect([undefined, sender]).toContain(found)
    }
    await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000, interval: 1 }).toBe(0)
  }
  expect(ready).toBeGreaterThan(0)
})

const hangs = 'while (true);'
const fails = "require('node:worker_threads').parentPort.on('message', () => { throw new Error('broken') })"
const fills =
  "require('node:worker_threads').parentPort.on('message', () => { const all = []; while (true) all.push(new Array(100_000).fill({})) })"
const running = (code: string): SenderThreadsOptions => ({
  count: 1,
  start: (workerData, transferList) =>
    new Worker(code, { eval: true, workerData, transferList, resourceLimits: { maxOldGenerationSizeMb: 16 } }),
})

it.each([
  ['hangs', hangs, 0],
  ['fails', fails, 1],
  ['fills its heap', fills, 1],
])('faults/senderThreads: execution continues when a sender thread %s', async (_what, code, warnings) => {
  const lines: string[] = []
  const log = logTo(
    (_level, message) => lines.push(message),
    () => log,
  )
  await using senders = new SenderThreads({ ...deps, log }, running(code))
  await insertBoth(senders)
  expect(senders.facts).toMatchObject({ ready: 0 })
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(warnings)
  const startMs = performance.now()
  await senders[Symbol.asyncDispose]()
  expect(performance.now() - startMs).toBeLessThan(10_000)
})

/** Starts threads that read ahead, as after a block that waited for the disk. */
function startReading(
  dir: string,
  options: SenderThreadsOptions = { count: 1 },
  log = silentLog,
): SenderThreads & { readonly keys: KeyRing } {
  const senders = new SenderThreads({ ...deps, log }, { ...options, dir })
  const keys = senders.keys ?? expect.fail()
  keys.isFollowed = true
  return Object.assign(senders, { keys })
}

it('faults/senderThreads: execution notes the keys that it reads, and stops after a block that did not wait for the disk', async () => {
  const dir = newDir()
  await using senders = startReading(dir, running(hangs))
  await insertBoth(senders, dir)
  expect(senders.keys.isFollowed).toBe(false)
  const header = new Int32Array(senders.keys.memory, 0, noted + 1)
  expect(Atomics.load(header, noted)).toBeGreaterThan(names.length)
})

/** Index of the counters in a ring. */
const [noted, taken] = [1, 2]

it('faults/senderThreads: a thread takes keys until the block ends', async () => {
  const dir = newDir()
  await using senders = startReading(dir)
  await using _worker = await startWith(senders, dir)
  const header = new Int32Array(senders.keys.memory, 0, taken + 1)
  const table = senders.post(shareBytes(first.transactions)) ?? expect.fail()
  for (let byte = 1; byte < 4; byte++) {
    senders.keys.note(new Uint8Array(32).fill(byte), byte === 1 ? undefined : new Uint8Array(32).fill(byte))
    await expect.poll(() => Atomics.load(header, taken), { timeout: 20_000 }).toBe(Atomics.load(header, noted))
  }
  table[Symbol.dispose]()
  await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000 }).toBe(0)
})

it('faults/senderThreads: a thread ends its reads when no key comes', async () => {
  const dir = newDir()
  await using senders = startReading(dir)
  await using _worker = await startWith(senders, dir)
  using _table = senders.post(shareBytes(first.transactions)) ?? expect.fail()
  await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000 }).toBe(0)
})

it('faults/senderThreads: a thread that cannot read the tables recovers senders', async () => {
  await using senders = startReading(join(base, 'absent'))
  using table = senders.post(shareBytes(transfers(40))) ?? expect.fail()
  await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000 }).toBe(0)
  expect(table.at(39)).toBe(accountOf('bob'))
})

function withTransactions(transactions: readonly Uint8Array[]): Payload {
  const changed = { ...first, transactions: [...first.transactions.slice(0, 1), ...transactions] }
  return { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
}

const poor = signedBy('carol', {})
const unsigned = encodeTransaction({ ...(decodeTransaction(signedBy('alice', {})) as SignedTransaction), r: 0n })
const many = sampleOf(20_000, 100_000)
it.each([
  ['many transactions without a valid signature', Array.from({ length: many }, () => unsigned)],
  ['many transactions of accounts without funds', Array.from({ length: many }, () => poor)],
  ['many transactions of no type', Array.from({ length: many }, () => Uint8Array.of(0x55))],
  ['a transaction of 20 MB', [...transfers(20), new Uint8Array(20 * 2 ** 20).fill(0xc1)]],
])('faults/senderThreads: a payload with %s is refused, and the threads drop its work', async (_what, transactions) => {
  await using senders = new SenderThreads(deps, { count: 1 })
  await using worker = await startWith(senders)
  expect(await worker.insert(withTransactions(transactions))).toMatchObject({ kind: 'invalid' })
  await expect.poll(() => senders.facts.queuedBytes, { timeout: 20_000 }).toBe(0)
  expect(await worker.insert(first)).toEqual({ kind: 'valid' })
})
