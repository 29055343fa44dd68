import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { type Address, zeroHash } from '#types/ids'
import { encodeTransaction, hashTransaction, type SignedTransaction } from '#types/transaction'
import type { SimulatedCall, SimulationOutcome, SimulationRefusal, SimulationRequest } from '../../../callPorts.ts'
import { simulateV1 } from './simulateV1.ts'

const chain = fakeChain([[], []])
const from: Address = account(1)

/** Answer to a simulation with the given outcome, and the requests it made. */
function ask(outcome: SimulationOutcome | undefined, ...params: readonly unknown[]) {
  const asked: SimulationRequest[] = []
  const plain = fakeContext(chain)
  const simulate = (_at: unknown, request: SimulationRequest): SimulationOutcome | undefined => {
    asked.push(request)
    return outcome
  }
  const answer = simulateV1.call({ ...plain, calls: { ...plain.calls, simulate } }, params)
  return { asked, answer: answer as readonly Record<string, unknown>[] }
}

const transaction: SignedTransaction = {
  ...{ type: 2, chainId: 8453n, nonce: 0n, gasLimit: 50_000n, to: account(2), value: 5n, data: new Uint8Array(0) },
  ...{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, accessList: [], yParity: 0, r: 0n, s: 0n },
}
const raw = encodeTransaction(transaction)
const header = chain.blocks[1]?.block.header
function simulated(call: Partial<SimulatedCall>, style: 'base' | 'go-ethereum' = 'base'): SimulationOutcome {
  if (header === undefined) throw new Error('no block')
  const block = { header: { ...header, number: 2 }, transactions: [raw] }
  const whole: SimulatedCall = {
    outcome: { kind: 'success', output: Uint8Array.of(7) },
    gasUsed: 21_000n,
    mostGas: 22_000n,
    logs: [],
    ...call,
  }
  return {
    kind: 'simulated',
    style,
    blocks: [{ hash: topic(9), block, transactions: [{ transaction, hash: hashTransaction(raw), from }], calls: [whole] }],
  }
}
const request = { blockStateCalls: [{ calls: [{ from, to: account(2) }] }] }

it('rpc/methods/eth/calls/simulateV1: returns blocks with their calls, and logs with their positions', () => {
  const log = { address: account(3), topics: [topic(1)], data: new Uint8Array(0) }
  const [block] = ask(simulated({ logs: [{ log, index: 4 }] }), request).answer
  expect(block).toMatchObject({ hash: topic(9), number: '0x2', transactions: [hashTransaction(raw)] })
  expect(block?.['calls']).toEqual([
    expect.objectContaining({
      returnData: '0x07',
      gasUsed: '0x5208',
      status: '0x1',
      logs: [expect.objectContaining({ logIndex: '0x4', blockHash: topic(9) })],
    }),
  ])
})

it('rpc/methods/eth/calls/simulateV1: whole transactions have the requested sender', () => {
  const [block] = ask(simulated({}), { ...request, returnFullTransactions: true }).answer
  expect(block?.['transactions']).toEqual([expect.objectContaining({ from, to: account(2), value: '0x5', nonce: '0x0', type: '0x2' })])
})

const reverted = { outcome: { kind: 'revert', output: Uint8Array.of(1) } } as const
it.each<[string, SimulationOutcome, object]>([
  ['reverted', simulated(reverted), { status: '0x0', returnData: '0x01', error: { code: -32000, message: 'execution reverted' } }],
  [
    'reverted, in the format of go-ethereum',
    simulated(reverted, 'go-ethereum'),
    { returnData: '0x', maxUsedGas: '0x55f0', error: { code: 3, message: 'execution reverted', data: '0x01' } },
  ],
  [
    'halted',
    simulated({ outcome: { kind: 'halt', reason: 'out of gas' } }),
    { status: '0x0', returnData: '0x', error: { code: -32015, message: 'out of gas' } },
  ],
])('rpc/methods/eth/calls/simulateV1: encodes a call that %s', (_what, outcome, expected) => {
  const [block] = ask(outcome, request).answer
  expect(block?.['calls']).toEqual([expect.objectContaining(expected)])
})

it('rpc/methods/eth/calls/simulateV1: uses defaults for absent members', () => {
  const { asked } = ask(simulated({}), {
    blockStateCalls: [{}, { blockOverrides: { time: '0x5', withdrawals: [] }, calls: [{ nonce: '0x3' }] }],
    validation: true,
  })
  expect(asked).toMatchObject([
    { validation: true, traceTransfers: false, blocks: [{ calls: [] }, { block: { timestamp: 5 }, calls: [{ nonce: 3n }] }] },
  ])
})

it.each<[SimulationRefusal['kind'], number]>([
  ['nonce-too-low', -38010],
  ['nonce-too-high', -38011],
  ['fee-below-base-fee', -38012],
  ['intrinsic-gas', -38013],
  ['insufficient-funds', -38014],
  ['block-gas-limit', -38015],
  ['block-order', -38020],
  ['time-order', -38021],
  ['initcode-size', -38025],
  ['too-many-blocks', -38026],
  ['override', -32000],
])('rpc/methods/eth/calls/simulateV1: answers %s with error %i', (kind, code) => {
  const outcome = { kind: 'refused', refusal: { kind, reason: 'why' } } as const
  expect(() => ask(outcome, request)).toThrow(expect.objectContaining({ code, message: 'why' }))
})

it.each<[string, readonly unknown[], SimulationOutcome | undefined, object]>([
  ['no blocks', [{ blockStateCalls: [] }], undefined, { code: -32602, message: 'empty input' }],
  ['too many blocks', [{ blockStateCalls: Array(257).fill({}) }], undefined, { code: -38026, message: 'too many blocks' }],
  ['a value that is not a request', ['latest'], undefined, { code: -32602 }],
  ['withdrawals', [{ blockStateCalls: [{ blockOverrides: { withdrawals: [{}] } }] }], undefined, { code: -32004 }],
  ['an unknown block', [request, zeroHash], undefined, { code: -32000, message: 'header not found' }],
  ['a state that is not retained', [request], undefined, { code: 4444 }],
  [
    'a request out of time',
    [request],
    { kind: 'timeout', timeoutMs: 5_000 },
    { code: -32000, message: 'execution aborted (timeout = 5s)' },
  ],
  ['too much return data', [request], { kind: 'too-big', maxBytes: 16_000_000 }, { code: -32008, message: 'Response is too big' }],
])('rpc/methods/eth/calls/simulateV1: refuses %s', (_what, params, outcome, expected) => {
  expect(() => ask(outcome, ...params)).toThrow(expect.objectContaining(expected))
})
