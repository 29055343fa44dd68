import { expect, it } from 'vitest'
import { account } from '#test/harness/rpc/fakes'
import { zeroAddress } from '#types/ids'
import { planCall } from './planCall.ts'

const basis = { baseFee: 100n, balance: () => 1_000_000n, gasCap: 50_000_000n, chainId: 8453 }

it('rpc/methods/eth/calls/planCall: an empty request has the zero sender, price zero and the maximum gas', () => {
  expect(planCall({}, basis)).toEqual({
    ...{ from: zeroAddress, to: null, value: 0n, data: new Uint8Array(0), gasLimit: 50_000_000n, gasPrice: 0n },
    ...{ accessList: [], authorizationList: [] },
  })
})

it.each([
  ['a legacy price is unchanged', { gasPrice: 7n, gas: 1n }, 7n],
  ['the base fee and the tip', { maxPriorityFeePerGas: 7n, gas: 1n }, 107n],
  ['base fee and tip below the maximum', { maxFeePerGas: 200n, maxPriorityFeePerGas: 7n, gas: 1n }, 107n],
  ['at most the maximum', { maxFeePerGas: 103n, maxPriorityFeePerGas: 7n, gas: 1n }, 103n],
  ['with a maximum of zero the base fee is not checked', { maxFeePerGas: 0n, gas: 1n }, 0n],
])('rpc/methods/eth/calls/planCall: price: %s', (_what, request, gasPrice) => {
  expect(planCall(request, basis).gasPrice).toBe(gasPrice)
})

it('rpc/methods/eth/calls/planCall: with a price and no limit, the gas is bounded by the balance after the value', () => {
  expect(planCall({ gasPrice: 10n, value: 500_000n }, basis).gasLimit).toBe(50_000n)
  expect(planCall({ gasPrice: 10n }, { ...basis, gasCap: 99n, chainId: 8453 }).gasLimit).toBe(99n)
})

it('rpc/methods/eth/calls/planCall: does not read the balance without a price, or with a gas limit', () => {
  const unasked = { ...basis, balance: (): never => expect.fail('read the balance') }
  expect(planCall({ value: 7n }, unasked).gasLimit).toBe(50_000_000n)
  expect(planCall({ gasPrice: 10n, gas: 21_000n }, unasked).gasLimit).toBe(21_000n)
})

it('rpc/methods/eth/calls/planCall: lowers a gas limit above the cap, as other clients do', () => {
  expect(planCall({ gas: 50_000_001n }, basis).gasLimit).toBe(50_000_000n)
})

it.each([
  ['max fee per gas less than block base fee', -32000, { maxFeePerGas: 1n }],
  ['max fee per gas less than block base fee', -32000, { maxFeePerGas: 1n, maxPriorityFeePerGas: 2n }],
  ['max priority fee per gas higher than max fee per gas', -32003, { maxFeePerGas: 100n, maxPriorityFeePerGas: 101n }],
  ['both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified', -32602, { gasPrice: 1n, maxPriorityFeePerGas: 0n }],
  ['insufficient funds for gas * price + value: have 1000000 want 1000001', -32003, { from: account(1), gasPrice: 1n, value: 1_000_001n }],
])('rpc/methods/eth/calls/planCall: refuses: %s (%i)', (message, code, request) => {
  expect(() => planCall(request, basis)).toThrow(expect.objectContaining({ message, code }))
})
