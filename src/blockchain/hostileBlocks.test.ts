import { afterEach, expect, it } from 'vitest'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { configOfGenesis } from '#block/executionConfig'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { endlessDeposit, endlessGas, incrementWith, largeLogCode, withTransaction } from '#test/harness/endlessBlocks'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { createExecution, type Execution } from './execution.ts'

const schedule = scheduleTo('jovian')
const { genesis: small } = smallChain(schedule)
// a chain whose gas limit lets a block run without end
const genesis = { ...small, header: { ...small.header, gasLimit: endlessGas } }
const config = configOfGenesis(genesis)
const evm = createWasmEvm()
type Segments = NonNullable<Parameters<typeof createMemoryJournal>[0]>

const opened: Execution[] = []
afterEach(async () => {
  for (const execution of opened.splice(0)) await execution.close()
})

/** A clock that advances ten milliseconds with each read. */
function open(segments: Segments = new Map(), kv = createMemoryKv()) {
  const clock = createManualClock()
  const time = { ms: 0 }
  const ticking = { ...clock, nowMs: () => clock.nowMs(), elapsedMs: () => (time.ms += 10) }
  const watch = new ExecutionWatch()
  const journal = createMemoryJournal(segments)
  const deps = { kv, journal, evm, config, genesis: () => genesis, clock: ticking, log: silentLog, watch }
  const execution = createExecution(deps, { maxPayloadMs: 3_000, maxPendingMs: 2_000 })
  opened.push(execution)
  const setUnsafe = async (payload: Payload): Promise<void> =>
    execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  return { execution, time, watch, setUnsafe, clock, segments, kv }
}

/** Builds an honest block on the genesis block, with a transfer, and its flashblocks. */
async function honest(): Promise<{ readonly payload: Payload; readonly told: readonly Flashblock[] }> {
  const { execution } = open()
  const attributes = { ...attributesAt(schedule, 1, [signedBy('alice', {})]), gasLimit: endlessGas }
  const built = await execution.build(config.genesis.l2, attributes)
  if (built.kind === 'invalid') throw new Error(built.reason)
  return { payload: built.payload, told: flashblocksOf(execution, built.payload, [1]) }
}

const { payload, told } = await honest()
const endless = endlessDeposit(endlessGas / 2n)
const unsealed = (execution: Execution): number | undefined => {
  using view = execution.view()
  return view.heads.pending?.number
}

it('blockchain/hostileBlocks: drops a flashblock that loops without end after its time, and serves latest', async () => {
  const { execution, time, watch, clock } = open()
  const fresh = clock.nowMs() + 4_000
  expect(await takeNext(execution, told[0] as Flashblock, fresh)).toMatchObject({ kind: 'taken' })
  const startMs = time.ms
  expect(await takeNext(execution, incrementWith(told[1], endless), fresh)).toMatchObject({ kind: 'refused', reason: 'time' })
  expect(time.ms - startMs).toBeLessThan(2_200)
  expect(unsealed(execution)).toBeUndefined()
  expect(watch.counts()).toEqual({ payload: 0, pending: 1 })
  expect(watch.running(0)).toBeUndefined()
  for (const flashblock of told)
    expect(await takeNext(execution, { ...flashblock, payloadId: '0x02' }, fresh)).toMatchObject({ kind: 'taken' })
  expect(unsealed(execution)).toBe(1)
})

it('blockchain/hostileBlocks: counts the time of all flashblocks of a pending block together', async () => {
  const { execution, clock } = open()
  // each runs for about a second
  const second = endlessDeposit(100_000_000n)
  const fresh = clock.nowMs() + 4_000
  const base = { ...(told[0] as Flashblock), transactions: [payload.transactions[0] as Uint8Array] }
  expect(await takeNext(execution, base, fresh)).toMatchObject({ kind: 'taken' })
  const kinds: string[] = []
  for (let index = 1; index <= 3; index++) {
    const gasUsed = base.outcome.gasUsed + BigInt(index) * 100_000_000n
    const { base: _, ...rest } = base
    const outcome = await takeNext(execution, { ...rest, index, transactions: [second], outcome: { ...base.outcome, gasUsed } }, fresh)
    kinds.push(outcome.kind === 'refused' ? outcome.reason : outcome.kind)
  }
  expect(kinds).toEqual(['taken', 'time', 'order'])
})

it('blockchain/hostileBlocks: abandons a flashblock after half a second while a call of the engine waits', async () => {
  const { execution, time, watch, clock } = open()
  watch.called()
  const startMs = time.ms
  const hostile = incrementWith(told[0], endless)
  expect(await takeNext(execution, hostile, clock.nowMs() + 4_000)).toMatchObject({ reason: 'time', text: /waits/ })
  expect(time.ms - startMs).toBeLessThan(700)
})

it('blockchain/hostileBlocks: finds an endless payload neither valid nor invalid, and keeps nothing of it', async () => {
  const { execution, time, watch, setUnsafe, segments, kv } = open()
  const hostile = withTransaction(schedule, payload, endless)
  const startMs = time.ms
  await expect(execution.insert(hostile)).rejects.toMatchObject({ code: 'BLOCK_NOT_EXECUTED', severity: 'retry' })
  expect(time.ms - startMs).toBeLessThan(3_200)
  expect(watch.abandoned()).toMatchObject({ number: 1, afterMs: expect.closeTo(3_000, -3) })
  expect(await execution.payload(hostile.blockHash)).toBeUndefined()
  expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
  await setUnsafe(payload)
  expect((await execution.heads()).unsafe.hash).toBe(payload.blockHash)
  // a start finds no block in the journal
  const again = open(segments, kv)
  expect(again.time.ms).toBeLessThan(500)
  expect((await again.execution.heads()).unsafe.hash).toBe(payload.blockHash)
})

it('blockchain/hostileBlocks: refuses an abandoned payload at once for ten times its limit, then gives it twice the time', async () => {
  const { execution, time, watch } = open()
  const hostile = withTransaction(schedule, payload, endless)
  const insert = async (): Promise<number> => {
    const startMs = time.ms
    await expect(execution.insert(hostile)).rejects.toMatchObject({ code: 'BLOCK_NOT_EXECUTED' })
    return time.ms - startMs
  }
  expect(await insert()).toBeGreaterThan(2_500)
  expect(await insert()).toBeLessThan(100)
  time.ms += 29_000
  expect(await insert()).toBeLessThan(100)
  time.ms += 1_000
  const again = await insert()
  expect(again).toBeGreaterThan(5_000)
  expect(again).toBeLessThan(6_200)
  expect(watch.counts()).toEqual({ payload: 2, pending: 0 })
})

it('blockchain/hostileBlocks: abandons a payload that needs too much memory, and continues', async () => {
  const { execution } = open()
  const hostile = withTransaction(schedule, payload, endlessDeposit(endlessGas / 2n, largeLogCode))
  await expect(execution.insert(hostile)).rejects.toMatchObject({ code: 'BLOCK_NOT_EXECUTED', message: expect.stringMatching(/memory/) })
  expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
})

it('blockchain/hostileBlocks: does not begin a precompile call that cannot end in time', async () => {
  const { execution, time } = open()
  // BLAKE2F with 2^32 - 1 rounds: PUSH4 ffffffff, PUSH1 e0, SHL, PUSH0, MSTORE; CALL of address 9 with 213 bytes
  const code = Uint8Array.of(0x63, 255, 255, 255, 255, 0x60, 0xe0, 0x1b, 0x5f, 0x52, 0x5f, 0x5f, 0x60, 213, 0x5f, 0x5f, 0x60, 9, 0x5a, 0xf1)
  const hostile = withTransaction(schedule, payload, endlessDeposit(endlessGas / 2n, code))
  const startMs = time.ms
  await expect(execution.insert(hostile)).rejects.toMatchObject({ code: 'BLOCK_NOT_EXECUTED' })
  expect(time.ms - startMs).toBeLessThan(200)
})

it('blockchain/hostileBlocks: executes a block derived from L1 to its end, and abandons the same block as a payload', async () => {
  const { execution, watch } = open()
  const long = endlessDeposit(1_000_000_000n)
  const built = await execution.build(config.genesis.l2, { ...attributesAt(schedule, 1, [long]), gasLimit: endlessGas })
  if (built.kind === 'invalid') expect.fail(built.reason)
  expect(built.payload.gasUsed).toBeGreaterThan(1_000_000_000n)
  expect(watch.abandoned()).toBeUndefined()
  await expect(open().execution.insert(built.payload)).rejects.toMatchObject({ code: 'BLOCK_NOT_EXECUTED' })
  expect(await execution.insert(built.payload)).toEqual({ kind: 'valid' })
})

it('blockchain/hostileBlocks: ends a block after a second when the thread is to end', async () => {
  const { execution, time, watch } = open()
  watch.stop()
  const startMs = time.ms
  const attributes = { ...attributesAt(schedule, 1, [endless]), gasLimit: endlessGas }
  await expect(execution.build(config.genesis.l2, attributes)).rejects.toMatchObject({ code: 'EXECUTION_CLOSING', severity: 'retry' })
  expect(time.ms - startMs).toBeLessThan(1_200)
})

it('blockchain/hostileBlocks: shows other threads which block runs, and for how long', () => {
  const memory = ExecutionWatch.create()
  const [here, there] = [new ExecutionWatch(memory), new ExecutionWatch(memory)]
  expect(there.running(5_000)).toBeUndefined()
  here.begin(7, 1_000)
  expect(there.running(5_000)).toEqual({ number: 7, forMs: 4_000 })
  // a wall clock that was set back
  expect(there.running(0)).toEqual({ number: 7, forMs: 0 })
  here.end()
  expect(there.running(5_000)).toBeUndefined()
  there.called()
  expect(here.hasWaitingCalls).toBe(true)
  here.took()
  expect(here.hasWaitingCalls).toBe(false)
})
