import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { account, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { CallOutcome } from '../../../callPorts.ts'
import { call } from './call.ts'

const chain = fakeChain([[], []], { [account(1)]: { balance: 10n } })
const run = (outcome: CallOutcome, request: object = { to: account(2), gas: '0x186a0' }) =>
  call.call(fakeContext(chain, outcome), [request, 'latest'])

const word = (value: number): string => value.toString(16).padStart(64, '0')
const why = `0x08c379a0${word(32)}${word(3)}${'776879'.padEnd(64, '0')}`

it('rpc/methods/eth/calls/call: returns the output of a successful message', () => {
  expect(run({ kind: 'success', output: Uint8Array.of(1, 2) })).toBe('0x0102')
})

it('rpc/methods/eth/calls/call: runs the message with its defaults at the block', () => {
  const context = fakeContext(chain, { kind: 'success', output: new Uint8Array(0) })
  expect(call.call(context, [{ from: account(1), to: account(2), input: '0xab', value: '0x3' }])).toBe('0x')
  expect(context.asked).toEqual([
    {
      from: account(1),
      to: account(2),
      value: 3n,
      data: Uint8Array.of(0xab),
      gasLimit: 50_000_000n,
      gasPrice: 0n,
      accessList: [],
      authorizationList: [],
    },
  ])
})

it.each<[string, number, string, CallOutcome]>([
  ['a reason', 3, 'execution reverted: why', { kind: 'revert', output: fromHex(why) }],
  ['a panic', 3, 'execution reverted: panic: assertion failed (0x01)', { kind: 'revert', output: fromHex(`0x4e487b71${word(1)}`) }],
  ['an unknown panic', 3, 'execution reverted: panic: unknown code (0x07)', { kind: 'revert', output: fromHex(`0x4e487b71${word(7)}`) }],
  ['a custom error', 3, 'execution reverted', { kind: 'revert', output: fromHex(`0xe8620800${word(1)}`) }],
  ['nothing', 3, 'execution reverted', { kind: 'revert', output: new Uint8Array(0) }],
  ['a reason cut short', 3, 'execution reverted', { kind: 'revert', output: fromHex(why).subarray(0, 70) }],
  [
    'a reason with an offset out of bounds',
    3,
    'execution reverted',
    { kind: 'revert', output: fromHex(`0x08c379a0${'f'.repeat(64)}${word(3)}`) },
  ],
])('rpc/methods/eth/calls/call: answers a revert with %s with error %i', (_what, code, message, outcome) => {
  const data = `0x${Buffer.from((outcome as { output: Uint8Array }).output).toString('hex')}`
  expect(() => run(outcome)).toThrow(expect.objectContaining({ code, message, data }))
})

it.each<[number, string, CallOutcome]>([
  [-32003, 'out of gas: gas required exceeds: 100000', { kind: 'halt', reason: 'out of gas' }],
  [-32003, 'EVM error: StackUnderflow', { kind: 'halt', reason: 'stack underflow' }],
  [-32003, 'EVM error: CallTooDeep', { kind: 'halt', reason: 'call depth' }],
  [-32000, 'execution aborted (timeout = 5s)', { kind: 'timeout', timeoutMs: 5_000 }],
  [-32000, 'execution aborted (timeout = 500ms)', { kind: 'timeout', timeoutMs: 500 }],
  [-32000, 'execution aborted (timeout = 1m30s)', { kind: 'timeout', timeoutMs: 90_000 }],
  [-32000, 'intrinsic gas too low', { kind: 'refused', refusal: { kind: 'intrinsic-gas', needed: 21_000n } }],
  [
    -32003,
    'insufficient funds for gas * price + value: have 0 want 5',
    { kind: 'refused', refusal: { kind: 'insufficient-funds', have: 0n, want: 5n } },
  ],
])('rpc/methods/eth/calls/call: answers with error %i: %s', (code, message, outcome) => {
  expect(() => run(outcome)).toThrow(expect.objectContaining({ code, message }))
})

it('rpc/methods/eth/calls/call: answers a call on pruned state with an error (4444)', () => {
  const context = fakeContext(fakeChain([[], []], {}, 1), { kind: 'success', output: new Uint8Array(0) })
  expect(() => call.call(context, [{}, '0x0'])).toThrow(expect.objectContaining({ code: 4444 }))
  expect(context.asked).toEqual([])
})
