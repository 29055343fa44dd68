import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { bigintFromBytes } from '#lib/bytes'
import type { CallOutcome, CallRequest, SimulatedBlockRequest, SimulationOutcome, SimulationRequest } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { zeroHash } from '#types/ids'
import { createCallTimer } from '../call/callTimer.ts'
import { simulate } from './simulate.ts'
import { opSimulatedRules } from './simulatedRules.ts'
import { planBlocks } from './simulatePlan.ts'

const rich = testAddress(0xa1)
const counter = testAddress(0xc1)
const place = testAddress(0xc2)
const forwards = testAddress(0xc3)
const reverts = testAddress(0xc4)
const nobody = testAddress(0xdd)
const returnsMuch = testAddress(0xc5)

const accounts = [
  testAccount(rich, { balance: 10n ** 18n, nonce: 3n }),
  // SLOAD(0) + 1, stored and returned
  testAccount(counter, { code: '0x6000546001018060005560005260206000f3', storage: new Map([[zeroHash, 41n]]) }),
  // NUMBER, TIMESTAMP and BLOCKHASH(NUMBER - 1), one word each
  testAccount(place, { code: '0x4360005242602052600143034060405260606000f3' }),
  // sends 1 wei to the account `nobody`, without a log
  testAccount(forwards, { code: `0x6000808080600173${nobody.slice(2)}5af100` }),
  testAccount(reverts, { code: '0x60006000fd' }),
  // 200,000 zero bytes
  testAccount(returnsMuch, { code: '0x62030d405ff3' }),
]
const { config: chain } = smallChain(scheduleTo('jovian'))
const config = { ...chain, l2ChainId: 901 } as unknown as Parameters<typeof opSimulatedRules>[0]
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n, gasLimit: 30_000_000n })
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState(accounts).state }
const deps = {
  evm: createWasmEvm(),
  traced: createTracedWasmEvm(),
  config,
  rules: opSimulatedRules(config),
  timer: () => () => {},
}

const blockOf = (...calls: readonly CallRequest[]): SimulatedBlockRequest => ({ block: {}, state: undefined, calls })
const run = (blocks: readonly SimulatedBlockRequest[], options: Partial<SimulationRequest> = {}): SimulationOutcome =>
  simulate(deps, at, { blocks, validation: false, traceTransfers: false, ...options }, 50_000_000n)
function blocksOf(outcome: SimulationOutcome) {
  if (outcome.kind !== 'simulated') throw new Error(JSON.stringify(outcome))
  return outcome.blocks
}
const word = (outcome: CallOutcome | undefined, at = 0): bigint | false =>
  outcome?.kind === 'success' && bigintFromBytes(outcome.output.subarray(32 * at, 32 * at + 32))

it('simulation/simulateV1/simulate: runs each call on the state after the previous one, also across blocks', () => {
  const blocks = blocksOf(run([blockOf({ to: counter }, { to: counter }), blockOf({ to: counter })]))
  expect(blocks.map(({ calls }) => calls.map(({ outcome }) => word(outcome)))).toEqual([[42n, 43n], [44n]])
  expect(blocks.map(({ block }) => block.header.gasUsed)).toEqual(
    blocks.map(({ calls }) => calls.reduce((sum, call) => sum + call.gasUsed, 0n)),
  )
})

it('simulation/simulateV1/simulate: links blocks by number, time and hash, and BLOCKHASH returns simulated hashes', () => {
  const [first, second] = blocksOf(run([blockOf({ to: place }), blockOf({ to: place })]))
  expect(second?.block.header).toMatchObject({ number: 79, timestamp: header.timestamp + 24, parentHash: first?.hash })
  const [call] = second?.calls ?? []
  expect([0, 1, 2].map((i) => word(call?.outcome, i))).toEqual([79n, BigInt(header.timestamp + 24), BigInt(first?.hash ?? 0)])
})

it('simulation/simulateV1/simulate: applies state overrides from their block on, and environment overrides to their block', () => {
  const state = new Map([[counter, { stateDiff: new Map([[zeroHash, 9n]]) }]])
  const blocks = blocksOf(
    run([blockOf({ to: counter }), { ...blockOf({ to: counter }, { to: place }), block: { number: 90 }, state }, blockOf({ to: counter })]),
  )
  expect(blocks).toHaveLength(14)
  expect(blocks.map(({ calls }) => calls.map(({ outcome }) => word(outcome))).filter((each) => each.length > 0)).toEqual([
    [42n],
    [10n, 90n],
    [11n],
  ])
})

it('simulation/simulateV1/simulate: keeps only the nonce of a failed call and runs the next ones', () => {
  const [block] = blocksOf(run([blockOf({ from: rich, to: reverts }, { from: rich, to: counter })]))
  expect(block?.calls.map(({ outcome }) => outcome.kind)).toEqual(['revert', 'success'])
  expect(block?.transactions.map(({ transaction }) => 'nonce' in transaction && transaction.nonce)).toEqual([3n, 4n])
})

it('simulation/simulateV1/simulate: adds logs of ether transfers on request, without those of reverted frames', () => {
  const calls = [
    { from: rich, to: forwards, value: 5n },
    { from: rich, to: reverts, value: 5n },
    { from: rich, to: nobody, value: 7n },
  ]
  const [block] = blocksOf(run([blockOf(...calls)], { traceTransfers: true }))
  const moved = block?.calls.map(({ logs }) => logs.map(({ log, index }) => [index, bigintFromBytes(log.data)]))
  expect(moved).toEqual([
    [
      [0, 5n],
      [1, 1n],
    ],
    [],
    [[2, 7n]],
  ])
  const [silent] = blocksOf(run([blockOf(...calls)]))
  expect(silent?.calls.map(({ logs }) => logs.length)).toEqual([0, 0, 0])
})

it('simulation/simulateV1/simulate: charges gas at the base fee and checks nonces with validation', () => {
  const call = { from: rich, to: counter, gas: 100_000n, maxFeePerGas: 10_000n, maxPriorityFeePerGas: 1n }
  const all = { from: rich, to: nobody, value: 10n ** 18n, gas: 21_000n, maxFeePerGas: 10_000n }
  const [block] = blocksOf(run([blockOf(call)], { validation: true }))
  expect(block?.calls[0]?.outcome.kind).toBe('success')
  expect(block?.block.header.baseFeePerGas).toBeGreaterThan(900n)
  expect(run([blockOf(all)], { validation: true })).toMatchObject({ refusal: { kind: 'insufficient-funds' } })
  const nonce = (given: bigint) => run([blockOf({ ...call, nonce: given })], { validation: true })
  expect(nonce(2n)).toMatchObject({ kind: 'refused', refusal: { kind: 'nonce-too-low' } })
  expect(nonce(4n)).toMatchObject({ kind: 'refused', refusal: { kind: 'nonce-too-high' } })
  expect(nonce(3n).kind).toBe('simulated')
})

it.each<[string, CallRequest, Partial<SimulationRequest>, string]>([
  ['a fee below the base fee', { from: rich, to: nobody, maxFeePerGas: 1n }, { validation: true }, 'fee-below-base-fee'],
  ['a tip above the fee', { from: rich, to: nobody, maxFeePerGas: 1n, maxPriorityFeePerGas: 2n }, {}, 'bad-request'],
  ['a value above the balance', { from: nobody, to: rich, value: 1n }, {}, 'insufficient-funds'],
  ['a gas limit below the intrinsic gas', { to: nobody, gas: 20_999n }, {}, 'intrinsic-gas'],
  ['a gas limit above that of the block', { to: nobody, gas: 30_000_001n }, {}, 'block-gas-limit'],
  ['initcode over the limit', { from: rich, data: new Uint8Array(49_153) }, {}, 'initcode-size'],
  ['another chain id', { from: rich, to: nobody, chainId: 1n }, {}, 'bad-request'],
])('simulation/simulateV1/simulate: refuses %s', (_what, call, options, kind) => {
  expect(run([blockOf(call)], options)).toMatchObject({ kind: 'refused', refusal: { kind } })
})

it('simulation/simulateV1/simulate: refuses an authorization list before Isthmus', () => {
  const early = { ...config, schedule: scheduleTo('holocene', { isthmus: 2_000_000_000 }) }
  const authorizationList = [{ chainId: 901n, address: counter, nonce: 0n, yParity: 0, r: 1n, s: 1n }]
  const request = { blocks: [blockOf({ from: rich, to: nobody, authorizationList })], validation: false, traceTransfers: false }
  const refusal = { kind: 'bad-request', reason: 'transaction type not supported: 4' }
  expect(simulate({ ...deps, config: early, rules: opSimulatedRules(early) }, at, request, 50_000_000n)).toEqual({
    kind: 'refused',
    refusal,
  })
})

it('simulation/simulateV1/simulate: limits the time of all calls together, and their gas to that of one call', () => {
  let ms = 0
  const timer = createCallTimer({ elapsedMs: () => (ms += 400) }, 1_000)
  const request = { blocks: Array(3).fill(blockOf({ to: counter })), validation: false, traceTransfers: false }
  expect(simulate({ ...deps, timer }, at, request, 50_000_000n)).toEqual({ kind: 'timeout', timeoutMs: 1_000 })
  expect(simulate(deps, at, request, 60_000n)).toMatchObject({ kind: 'refused', refusal: { kind: 'intrinsic-gas' } })
})

it('simulation/simulateV1/simulate: refuses calls that together return more than 16 MB', () => {
  const block = (count: number) => blockOf(...Array<CallRequest>(count).fill({ to: returnsMuch, gas: 200_000n }))
  expect(run([block(40), block(40)]).kind).toBe('simulated')
  expect(run([block(40), block(41)])).toEqual({ kind: 'too-big', maxBytes: 16_000_000 })
})

it.each<[string, readonly { number?: number; timestamp?: number }[], object]>([
  ['a number that does not increase', [{ number: 77 }], { kind: 'block-order', reason: 'block numbers must be in order: 77 <= 77' }],
  ['a time that does not increase', [{ timestamp: 5 }], { kind: 'time-order' }],
  ['a gap whose times reach the next given time', [{ number: 80, timestamp: 1_900_000_024 }], { kind: 'time-order' }],
  ['a block too far from the base block', [{ number: 77 + 257 }], { kind: 'too-many-blocks' }],
])('simulation/simulateV1/simulatePlan: refuses %s', (_what, blocks, expected) => {
  expect(
    planBlocks(
      config,
      header,
      blocks.map((block) => ({ block, state: undefined, calls: [] })),
    ),
  ).toMatchObject(expected)
})
