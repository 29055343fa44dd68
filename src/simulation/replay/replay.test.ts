import { beforeAll, expect, it } from 'vitest'
import { createTracedWasmEvm } from '#evm/wasmEvm'
import { CacheSet } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { ethRegistry } from '#rpc/methods'
import { signedBy } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { callMessage } from '#test/harness/evm/callMessage'
import { testAccount } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { type DenimChain, openDenimChain } from '#test/harness/rpc/denimChain'
import { readResult } from '#test/harness/rpc/result'
import { type Hash, parseAddress, zeroHash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { createTracing } from '../trace/tracing.ts'

const counter = parseAddress(`0x${'c0'.repeat(20)}`)
/** Adds one to slot 0, and writes the sum to the slot with its number. */
const code = '0x5f546001018080555f5500'
const calls = Array.from({ length: 11 }, (_, nonce) =>
  signedBy('alice', { to: counter, value: 0n, gasLimit: 100_000n, data: new Uint8Array(), nonce: BigInt(nonce) }),
)
/** deposits at the start of a Denim block */
const deposits = 2
/** Reads another slot each time until its gas is used. The interpreter reads no slots of an account without storage. */
const reader = parseAddress(`0x${'c1'.repeat(20)}`)
const readerCode = '0x5b5a54505f56'
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

let chain: DenimChain

async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
  const found = ethRegistry.get(method) ?? expect.fail(method)
  return readResult(await found.call({ ...chain.eth, cancellation: { isCancelled: false } }, params))
}

const slotBefore = async (call: number): Promise<unknown> => {
  const traced = (await ask('debug_traceTransaction', hashTransaction(calls[call] ?? expect.fail()), {
    tracer: 'prestateTracer',
  })) as object
  return (traced as Record<string, { storage?: Record<string, string> }>)[counter]?.storage?.[word(0)] ?? word(0)
}

const slotsBefore = async (call: number): Promise<readonly unknown[]> => {
  const { hash } = (await ask('eth_getBlockByNumber', '0x3', false)) as { hash: string }
  const range = (await ask('debug_storageRangeAt', hash, call + deposits, counter, '0x', 100)) as {
    storage: Record<string, { value: string }>
  }
  return Object.values(range.storage)
    .map(({ value }) => Number(value))
    .sort((a, b) => a - b)
}

beforeAll(async () => {
  chain = openDenimChain([testAccount(counter, { code }), testAccount(reader, { code: readerCode, storage: new Map([[zeroHash, 1n]]) })])
  for (const transactions of [[], [], calls]) await chain.grow(transactions)
})

it('simulation/replay: returns the state before a transaction in any order of requests', async () => {
  const order = [9, 3, 3, 4, 5, 10, 0, 7, 6, 1, 2, 8, 9, 10, 5, 4]
  for (const call of order) expect(await slotBefore(call)).toBe(word(call))
  for (const call of order) {
    const numbers = Array.from({ length: call }, (_, i) => i + 1)
    expect(await slotsBefore(call)).toEqual(call === 0 ? [] : [...numbers, call])
  }
})

it('simulation/replay: traces all transactions of a block after single ones', async () => {
  const traces = (await ask('debug_traceBlockByNumber', '0x3', { tracer: 'prestateTracer' })) as {
    result: Record<string, { storage?: object }>
  }[]
  const before = traces.slice(deposits).map(({ result }) => result[counter]?.storage)
  expect(before).toMatchObject(calls.map((_, call) => (call === 0 ? {} : { [word(0)]: word(call) })))
})

function openTracing(replayBytes: number, clock: Clock = createManualClock()) {
  const { execution, config } = chain
  const caches = new CacheSet({ replays: replayBytes, witness: 2 ** 20 })
  return { caches, tracing: createTracing({ execution, evm: sharedEvm, traced: createTracedWasmEvm(), config, clock }, caches) }
}

it('simulation/replay: calls on the state between transactions add nothing to the kept states', async () => {
  const { caches, tracing } = openTracing(2 ** 24)
  const { hash } = (await ask('eth_getBlockByNumber', '0x3', false)) as { hash: Hash }
  const keptBytes = (): number | undefined => {
    tracing.known(hash)?.prepare(1)
    return caches.facts().replays?.sizeBytes
  }
  const before = keptBytes()
  const calls = tracing.calls({ block: { hash, number: 3 }, transactions: 1 })
  expect(calls.prepare()).toBe(true)
  const message = callMessage({ from: counter, to: reader, gasLimit: 4_000_000n }) // more than 1,800 slots
  expect(calls.trace(message, { tracer: 'callTracer' }, () => () => {})).toMatchObject({ kind: 'traced' })
  expect(keptBytes()).toBe(before)
})

it('simulation/replay: calls on the state between transactions run on a block that is larger than the cache', async () => {
  let ms = 0
  // a turn of 10 ms has time for one transaction
  const slow: Clock = { ...createManualClock(), elapsedMs: () => (ms += 6) }
  const { tracing } = openTracing(1, slow)
  const { hash } = (await ask('eth_getBlockByNumber', '0x3', false)) as { hash: Hash }
  const between = tracing.calls({ block: { hash, number: 3 }, transactions: 4 })
  const turns = Array.from({ length: 5 }, () => between.prepare())
  expect(turns).toEqual([false, false, false, false, true])
  const call = () => between.trace(callMessage({ from: reader, to: counter }), { tracer: 'callTracer' }, () => () => {})
  expect([call(), call()]).toMatchObject([{ kind: 'traced' }, { kind: 'traced' }])
})
