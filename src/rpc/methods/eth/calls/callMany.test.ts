import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { CallBundle, CallOutcome, CallRuns } from '../../../callPorts.ts'
import { callMany } from './callMany.ts'

const chain = fakeChain([[], []])

function many(outcomes: readonly (readonly CallOutcome[])[] | undefined, ...params: readonly unknown[]) {
  const asked: (readonly CallBundle[])[] = []
  const plain = fakeContext(chain)
  const answered: CallRuns['many'] = (_at, bundles) => {
    asked.push(bundles)
    return outcomes
  }
  return { asked, answer: callMany.call({ ...plain, calls: { ...plain.calls, many: answered } }, params) }
}
const to = account(2)

it('rpc/methods/eth/calls/callMany: returns the result of each message by bundle', () => {
  const halt: CallOutcome = { kind: 'halt', reason: 'out of gas' }
  const bundles = [{ transactions: [{ to }, { to, gas: '0x7530' }] }, { transactions: [], blockOverride: { time: '0x5' } }]
  const { answer, asked } = many([[{ kind: 'success', output: Uint8Array.of(7) }, halt], []], bundles, {
    blockNumber: '0x1',
    transactionIndex: -1,
  })
  expect(answer).toEqual([[{ value: '0x07' }, { error: 'out of gas: gas required exceeds: 30000' }], []])
  expect(asked).toMatchObject([[{ messages: [{ to, gasLimit: 50_000_000n }, { gasLimit: 30_000n }] }, { block: { timestamp: 5 } }]])
})

it.each<[string, readonly unknown[], readonly (readonly CallOutcome[])[] | undefined, object]>([
  ['a position inside a block', [[], { blockNumber: 'latest', transactionIndex: 3 }], [], { code: -32004 }],
  ['an unknown block', [[], { blockNumber: '0xff' }], [], { code: -32001 }],
  ['too many messages', [Array(2).fill({ transactions: Array(600).fill({}) })], [], { code: -32602 }],
  [
    'a message that cannot start',
    [[{ transactions: [{ to }] }]],
    [[{ kind: 'refused', refusal: { kind: 'nonce-overflow' } }]],
    { code: -32003 },
  ],
  ['a request out of time', [[{ transactions: [{ to }] }]], [[{ kind: 'timeout', timeoutMs: 5_000 }]], { code: -32000 }],
  ['too much return data', [[{ transactions: [{ to }] }]], [[{ kind: 'too-big', maxBytes: 16_000_000 }]], { code: -32008 }],
  ['a state that is not retained', [[]], undefined, { code: 4444 }],
])('rpc/methods/eth/calls/callMany: refuses %s', (_what, params, outcomes, expected) => {
  expect(() => many(outcomes, ...params)).toThrow(expect.objectContaining(expected))
})
