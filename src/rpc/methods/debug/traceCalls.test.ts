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

async function openChain() {
  const { eth, grow } = openDenimChain([stops, callerBalance, rich])
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
