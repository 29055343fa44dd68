import { expect, it } from 'vitest'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { openDenimChain } from '#test/harness/rpc/denimChain'
import { readResult } from '#test/harness/rpc/result'
import { ethRegistry } from '../../methods.ts'

type Balances = Record<string, { balance: string }>

const stops = testAccount(testAddress(0xc1), { nonce: 1n, code: '0x00' })
/** Returns the balance of its caller. */
const callerBalance = testAccount(testAddress(0xc2), { nonce: 1n, code: '0x333160005260206000f3' })
const rich = testAccount(testAddress(0xa1), { balance: 10n ** 18n })

/** A call with a gas price of 1 gwei. It uses 21,000 gas. */
const priced = { from: rich.address, to: stops.address, gasPrice: '0x3b9aca00' }
const feeWei = 21_000n * 10n ** 9n
/** The same call with a gas limit of 1,000,000. */
const limited = { ...priced, gas: '0xf4240' }
const asksBalance = { from: rich.address, to: callerBalance.address }
const calls = { tracer: 'callTracer' }

/** Reverts when GASPRICE is below BASEFEE. */
const tipper = testAccount(testAddress(0xc3), { nonce: 1n, code: '0x483a10600757005b5f5ffd' })

async function openChain() {
  const { eth, grow } = openDenimChain([stops, callerBalance, tipper, rich])
  await grow()
  return async <T>(method: string, ...params: unknown[]): Promise<T> =>
    readResult<T>(await (ethRegistry.get(method) ?? expect.fail(method)).call({ ...eth, cancellation: { isCancelled: false } }, params))
}

it('rpc/methods/debug/traceCall: the sender of a priced call pays for the gas that it used', async () => {
  const ask = await openChain()
  const { pre, post } = await ask<{ pre: Balances; post: Balances }>('debug_traceCall', limited, 'latest', {
    tracer: 'prestateTracer',
    tracerConfig: { diffMode: true },
  })
  expect(BigInt(pre[rich.address]?.balance ?? 0) - BigInt(post[rich.address]?.balance ?? 0)).toBe(feeWei)

  type Diff = { stateDiff: Record<string, { balance: { '*': { from: string; to: string } } }> }
  const { stateDiff } = await ask<Diff>('trace_call', limited, ['stateDiff'])
  const { from, to } = stateDiff[rich.address]?.balance['*'] ?? expect.fail()
  expect(BigInt(from) - BigInt(to)).toBe(feeWei)
})

it('rpc/methods/debug/traceCallMany: a later call sees the unused gas of an earlier one returned, as in eth_callMany', async () => {
  const ask = await openChain()
  const bundles = [{ transactions: [limited, asksBalance] }]
  const [called] = await ask<[{ value: string }[]]>('eth_callMany', bundles)
  const [traced] = await ask<[{ output: string }[]]>('debug_traceCallMany', bundles, { blockNumber: 'latest' }, calls)
  const parity = await ask<{ output: string }[]>('trace_callMany', [
    [limited, ['trace']],
    [asksBalance, ['trace']],
  ])
  expect([called[1]?.value, traced[1]?.output, parity[1]?.output].map((word) => BigInt(word ?? 0))).toEqual(
    Array(3).fill(10n ** 18n - feeWei),
  )
})

it('rpc/methods/debug/traceCallMany: a later call without a gas limit counts on an overridden balance', async () => {
  const ask = await openChain()
  const poor = testAddress(0xdd)
  const call = { ...priced, from: poor }
  const options = { ...calls, stateOverrides: { [poor]: { balance: '0xde0b6b3a7640000' } } }
  const traces = await ask<{ from: string }[][]>(
    'debug_traceCallMany',
    [{ transactions: [call, call] }],
    { blockNumber: 'latest' },
    options,
  )
  expect(traces).toMatchObject([[{ from: poor }, { from: poor }]])
})

it('rpc/methods/debug/traceCallMany: an overridden precompile stays overridden for later calls, as in eth_callMany', async () => {
  const ask = await openChain()
  const sha256 = `0x${'2'.padStart(40, '0')}`
  const call = { to: sha256, input: '0x010203' }
  const state = { [sha256]: { code: '0x60aa60005260206000f3' } }
  const bundles = [{ transactions: [call, call] }]
  const [called] = await ask<[{ value: string }[]]>('eth_callMany', bundles, { blockNumber: 'latest' }, state)
  const [traced] = await ask<[{ output: string }[]]>(
    'debug_traceCallMany',
    bundles,
    { blockNumber: 'latest' },
    { ...calls, stateOverrides: state },
  )
  expect(called.map(({ value }) => value)).toEqual(Array(2).fill(`0x${'aa'.padStart(64, '0')}`))
  expect(traced.map(({ output }) => output)).toEqual(called.map(({ value }) => value))
})

it('rpc/methods/eth/calls: without a gas price BASEFEE is not above GASPRICE, with one it is the base fee of the block', async () => {
  const ask = await openChain()
  const call = { from: rich.address, to: tipper.address }
  const cheap = { ...call, gasPrice: '0x1' }
  expect(await ask('eth_call', call)).toBe('0x')
  expect(Number(await ask('eth_estimateGas', call))).toBeGreaterThan(21_000)
  await expect(ask('eth_call', cheap)).rejects.toMatchObject({ code: 3 })
  await expect(ask('eth_call', call, 'latest', {}, { baseFee: '0x7' })).rejects.toMatchObject({ code: 3 })
  const [many] = await ask<[object[]]>('eth_callMany', [{ transactions: [call, cheap, call] }])
  expect(many).toMatchObject([{ value: '0x' }, { error: expect.anything() }, { value: '0x' }])
  expect(await ask('debug_traceCall', call, 'latest', calls)).not.toHaveProperty('error')
  expect(await ask('eth_createAccessList', call)).not.toHaveProperty('error')
})

it('rpc/methods/debug/traceCall: a frame may have more logs than a function takes arguments', async () => {
  const ask = await openChain()
  // 131,000 times LOG0 without data
  const state = { [stops.address]: { code: `0x${'5f5fa0'.repeat(131_000)}` } }
  const options = { tracer: 'callTracer', tracerConfig: { withLog: true }, stateOverrides: state }
  expect((await ask<{ logs: unknown[] }>('debug_traceCall', { to: stops.address }, 'latest', options)).logs).toHaveLength(131_000)
  const block = { stateOverrides: state, blockOverrides: { gasLimit: '0x5f5e100' }, calls: [{ to: stops.address, gas: '0x2faf080' }] }
  const simulated = await ask<{ calls: { logs: unknown[] }[] }[]>('eth_simulateV1', { blockStateCalls: [block], traceTransfers: true })
  expect(simulated[0]?.calls[0]?.logs).toHaveLength(131_000)
})
