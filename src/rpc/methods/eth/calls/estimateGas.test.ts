import { assert, asyncProperty, bigInt } from 'fast-check'
import { expect, it } from 'vitest'
import type { ForkSchedule } from '#chainspec/forks'
import { fromHex } from '#lib/hex'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import type { CallMessage, CallOutcome, MeasuredCall } from '../../../callPorts.ts'
import { ethRegistry } from '../../../methods.ts'

const contract = account(0xc0)
const state = { [contract]: { code: Uint8Array.of(1) }, [account(1)]: { balance: 10n ** 9n } }
const chain = fakeChain([[], [[]]], state)
const success: CallOutcome = { kind: 'success', output: new Uint8Array(0) }
const outOfGas: CallOutcome = { kind: 'halt', reason: 'out of gas' }

/** Context whose message needs `need` gas to succeed, and returns `refund` gas at its end. */
function needing(need: bigint, refund = 0n, short: CallOutcome = outOfGas, later: ForkSchedule = {}) {
  const tried: bigint[] = []
  const measure = (_at: unknown, { gasLimit }: CallMessage): MeasuredCall => {
    tried.push(gasLimit)
    if (gasLimit < 21_000n) {
      const refusal = { kind: 'intrinsic-gas', needed: 21_000n } as const
      return { outcome: { kind: 'refused', refusal }, gasUsed: 0n, gasRefunded: 0n }
    }
    if (gasLimit < need) return { outcome: short, gasUsed: gasLimit, gasRefunded: 0n }
    return { outcome: success, gasUsed: need - refund, gasRefunded: refund }
  }
  const plain = fakeContext(chain)
  const forks = { ...plain.forks, schedule: { ...plain.forks.schedule, ...later } }
  const context = { ...plain, forks, executor: { timer: () => () => () => {}, call: measure } }
  const ask = async (...params: readonly unknown[]) => BigInt(String(await ethRegistry.get('eth_estimateGas')?.call(context, params)))
  return { tried, ask }
}

it('rpc/methods/eth/calls/estimateGas: tries a transfer to an account without code with 21,000 gas first', async () => {
  const { ask, tried } = needing(21_000n)
  expect(await ask({ from: account(1), to: account(2), value: '0x1' })).toBe(21_000n)
  expect(tried).toEqual([21_000n])
})

it('rpc/methods/eth/calls/estimateGas: finds enough gas, at most 1.5 % above the minimum, in few runs', async () => {
  const need = bigInt({ min: 21_000n, max: 29_000_000n })
  await assert(
    asyncProperty(need, bigInt({ min: 0n, max: 20n }), async (gas, refundPercent) => {
      const { ask, tried } = needing(gas, (gas * refundPercent) / 100n)
      const estimate = await ask({ to: contract, input: '0x01' })
      expect(estimate).toBeGreaterThanOrEqual(gas)
      expect(Number(estimate - gas)).toBeLessThanOrEqual(Math.max(4_000, Number(gas) * 0.04))
      expect(tried.length).toBeLessThan(20)
    }),
    { seed: 20_261_121, numRuns: 300 },
  )
})

it('rpc/methods/eth/calls/estimateGas: starts with the gas limit of the block, bounded by the maximum gas of a call', async () => {
  const { ask, tried } = needing(100_000n)
  await ask({ to: contract, input: '0x01' })
  expect(tried[0]).toBe(30_000_000n)
  const asked = needing(100_000n)
  await asked.ask({ to: contract, input: '0x01', gas: '0xffffffffff' })
  expect(asked.tried[0]).toBe(30_000_000n)
})

it('rpc/methods/eth/calls/estimateGas: with a price, is bounded by the balance of the sender', async () => {
  const { ask, tried } = needing(50_000n)
  await ask({ from: account(1), to: contract, input: '0x01', gasPrice: '0x2710' })
  expect(tried[0]).toBe(100_000n)
  const poor = needing(50_000n).ask({ from: account(2), to: contract, input: '0x01', gasPrice: '0x2710' })
  await expect(poor).rejects.toMatchObject({ code: -32000, message: 'gas required exceeds allowance (0)' })
})

it('rpc/methods/eth/calls/estimateGas: applies overrides to balance, block gas limit and code', async () => {
  const rich = needing(50_000n)
  const priced = { from: account(2), to: contract, input: '0x01', gasPrice: '0x2710' }
  await rich.ask(priced, 'latest', { [account(2)]: { balance: '0x3b9aca00' } })
  expect(rich.tried[0]).toBe(100_000n)
  const narrow = needing(50_000n)
  await narrow.ask({ to: contract, input: '0x01' }, 'latest', {}, { gasLimit: '0x186a0' })
  expect(narrow.tried[0]).toBe(100_000n)
  const plain = needing(21_000n)
  await plain.ask({ to: contract }, 'latest', { [contract]: { code: '0x' } })
  expect(plain.tried).toEqual([21_000n])
})

const why = `0x08c379a0${'20'.padStart(64, '0')}${'3'.padStart(64, '0')}${'776879'.padEnd(64, '0')}`
it.each<[string, CallOutcome, object, object]>([
  ['a revert', { kind: 'revert', output: fromHex(why) }, {}, { code: 3, message: 'execution reverted: why', data: why }],
  ['a halt', { kind: 'halt', reason: 'invalid opcode' }, {}, { code: -32003, message: 'EVM error: OpcodeNotFound' }],
  ['too little gas named', outOfGas, { gas: '0x7530' }, { code: -32003, message: 'out of gas: gas required exceeds: 30000' }],
  ['gas below what any transaction costs', outOfGas, { gas: '0x1' }, { code: -32000, message: 'gas required exceeds allowance (1)' }],
])('rpc/methods/eth/calls/estimateGas: reports the error of %s', async (_what, outcome, extra, expected) => {
  const need = 'gas' in extra ? 50_000n : 10n ** 12n
  await expect(needing(need, 0n, outcome).ask({ to: contract, input: '0x01', ...extra })).rejects.toMatchObject(expected)
})

it('rpc/methods/eth/calls/estimateGas: reports a revert caused by the given gas limit as out of gas', async () => {
  const { ask } = needing(50_000n, 0n, { kind: 'revert', output: new Uint8Array(0) })
  const expected = { code: -32003, message: 'out of gas: gas required exceeds: 30000' }
  await expect(ask({ to: contract, input: '0x01', gas: '0x7530' })).rejects.toMatchObject(expected)
})

const authorization = { chainId: '0x1', address: account(3), nonce: '0x0', yParity: '0x0', r: topic(1), s: topic(2) }
it('rpc/methods/eth/calls/estimateGas: passes an authorization list to the executor', async () => {
  const asked: CallMessage[] = []
  const measure = (_at: unknown, message: CallMessage): MeasuredCall => {
    asked.push(message)
    return { outcome: success, gasUsed: 46_000n, gasRefunded: 0n }
  }
  const context = { ...fakeContext(chain), executor: { timer: () => () => () => {}, call: measure } }
  const { r, s, yParity, ...rest } = authorization
  await ethRegistry
    .get('eth_estimateGas')
    ?.call(context, [{ to: contract, type: '0x4', authorizationList: [{ ...rest, r, s, v: yParity }] }])
  expect(asked[0]?.authorizationList).toEqual([{ chainId: 1n, address: account(3), nonce: 0n, yParity: 0, r: 1n, s: 2n }])
})

it.each<[string, readonly unknown[], object]>([
  ['nothing', [], { code: -32602 }],
  ['an unsigned authorization', [{ to: contract, authorizationList: [{ ...authorization, r: undefined }] }], { code: -32602 }],
  ['authorizations without a target', [{ authorizationList: [authorization] }], { code: -32602 }],
  ['more authorizations than gas pays for', [{ to: contract, authorizationList: Array(1_025).fill(authorization) }], { code: -32602 }],
  ['an invalid parity', [{ to: contract, authorizationList: [{ ...authorization, yParity: '0x1ff' }] }], { code: -32602 }],
  ['another chain', [{ to: contract, chainId: '0x1' }], { code: -32000, message: 'invalid chain ID' }],
  ['an invalid type', [{ to: contract, type: 'blob' }], { code: -32602 }],
  ['an invalid override', [{ to: contract }, 'latest', { [contract]: { balance: 'much' } }], { code: -32602 }],
  ['an unknown block', [{ to: contract }, '0xff'], { code: -32001 }],
])('rpc/methods/eth/calls/estimateGas: refuses %s', async (_what, params, expected) => {
  await expect(needing(21_000n).ask(...params)).rejects.toMatchObject(expected)
})

it('rpc/methods/eth/calls/estimateGas: answers a request on pruned state with an error (4444)', async () => {
  const context = fakeContext(fakeChain([[], []], {}, 1), success)
  await expect(async () => ethRegistry.get('eth_estimateGas')?.call(context, [{}, '0x0'])).rejects.toMatchObject({ code: 4444 })
})

it.each([
  ['before Azul', 1_700_000_003, 30_000_000n],
  ['under Azul', 1_700_000_002, 16_777_216n],
])('rpc/methods/eth/calls/estimateGas: %s, the first run is bounded by the maximum gas of a transaction', async (_what, azul, gas) => {
  const { ask, tried } = needing(100_000n, 0n, outOfGas, { azul })
  await ask({ to: contract, input: '0x01' })
  await ask({ to: contract, input: '0x01', gas: '0xffffffffff' })
  expect(tried.filter((limit) => limit > 1_000_000n)).toEqual([gas, gas])
})

it('rpc/methods/eth/calls/estimateGas: all runs share one time limit, and the search ends at the time-out', async () => {
  const timers: unknown[] = []
  const timer = () => () => () => {}
  const measure = (_at: unknown, _message: CallMessage, of: unknown): MeasuredCall => {
    timers.push(of)
    if (timers.length === 3) return { outcome: { kind: 'timeout', timeoutMs: 5_000 }, gasUsed: 0n, gasRefunded: 0n }
    return { outcome: timers.length === 2 ? outOfGas : success, gasUsed: 25_000n, gasRefunded: 0n }
  }
  const context = { ...fakeContext(chain), executor: { timer, call: measure } }
  const asked = Promise.resolve(ethRegistry.get('eth_estimateGas')?.call(context, [{ to: contract, input: '0x01' }]))
  await expect(asked).rejects.toMatchObject({ code: -32000, message: 'execution aborted (timeout = 5s)' })
  expect(timers).toHaveLength(3)
  expect(new Set(timers).size).toBe(1)
})
