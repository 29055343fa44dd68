import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { bigintFromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { CallMessage, CallOutcome } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { callMessage } from '#test/harness/evm/callMessage'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { type Hash, zeroHash } from '#types/ids'
import { listCall } from './accessList.ts'
import { callMany } from './callMany.ts'

const rich = testAddress(0xa1)
const counter = testAddress(0xc1)
const reaches = testAddress(0xc2)
const halts = testAddress(0xc3)
const other = testAddress(0xd1)
const clock = testAddress(0xc4)
const returnsMuch = testAddress(0xc5)
const revertsMuch = testAddress(0xc6)

const word = (value: number): Hash => `0x${value.toString(16).padStart(64, '0')}` as Hash
const accounts = [
  testAccount(rich, { balance: 10n ** 18n }),
  // SLOAD(0) + 1, stored and returned
  testAccount(counter, { code: '0x6000546001018060005560005260206000f3', storage: new Map([[zeroHash, 41n]]) }),
  // SLOAD(3), BALANCE(other), BALANCE(1), BALANCE(caller), then a call of the counter
  testAccount(reaches, { code: `0x60035473${other.slice(2)}31600131333160008080808073${counter.slice(2)}61fffff100` }),
  testAccount(halts, { code: '0x600154fe' }),
  testAccount(clock, { code: '0x4260005260206000f3' }),
  // 1,000,000 zero bytes
  testAccount(returnsMuch, { code: '0x620f42405ff3' }),
  testAccount(revertsMuch, { code: '0x620f42405ffd' }),
]
const { config: chain } = smallChain(scheduleTo('jovian'))
const config = { ...chain, l2ChainId: 901 } as unknown as Parameters<typeof callMany>[0]['config']
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n })
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState(accounts).state }
const deps = { evm: createWasmEvm(), config }

const message = (fields: Partial<CallMessage>): CallMessage => callMessage({ from: rich, to: counter, ...fields })
const list = (fields: Partial<CallMessage>) => listCall({ ...deps, traced: createTracedWasmEvm() }, at, message(fields), {})
const numberOf = (outcome: CallOutcome | undefined) => outcome?.kind === 'success' && bigintFromBytes(outcome.output)

it('simulation/call/accessList: lists accessed accounts and slots in order, without the always warm ones', () => {
  const { accessList, measured } = list({ to: reaches })
  expect(accessList).toEqual([
    { address: counter, slots: [word(0)] },
    { address: reaches, slots: [word(3)] },
    { address: other, slots: [] },
  ])
  expect(measured.outcome.kind).toBe('success')
})

it('simulation/call/accessList: reports the gas of the message with the list', () => {
  // 21,000 and the list (2,400 + 1,900), nine opcodes of 3 gas, one word of memory, SLOAD and SSTORE of a warm slot
  expect(list({}).measured.gasUsed).toBe(21_000n + 2_400n + 1_900n + 30n + 100n + 2_900n)
})

it('simulation/call/accessList: keeps the given list, and returns one for a message that fails', () => {
  const given = [{ address: other, slots: [word(9)] }]
  const { accessList, measured } = list({ to: halts, accessList: given })
  expect(accessList).toEqual([{ address: halts, slots: [word(1)] }, ...given])
  expect(measured.outcome).toEqual({ kind: 'halt', reason: 'invalid opcode' })
  expect(list({ gasLimit: 1n })).toMatchObject({ accessList: [], measured: { outcome: { kind: 'refused' } } })
})

it('simulation/call/accessList: lists nothing for a transfer, and the accesses of the code for a creation', () => {
  expect(list({ to: other, value: 1n })).toMatchObject({ accessList: [], measured: { gasUsed: 21_000n } })
  const { accessList } = list({ to: null, data: fromHex('0x60075450') })
  expect(accessList.map(({ slots }) => slots)).toEqual([[word(7)]])
})

it('simulation/call/callMany: runs each message on the state after the previous one, also across bundles', () => {
  const bundles = [
    { messages: [message({}), message({})], block: {} },
    { messages: [message({})], block: {} },
  ]
  expect(callMany(deps, at, bundles, undefined).map((outcomes) => outcomes.map(numberOf))).toEqual([[42n, 43n], [44n]])
  expect(callMany(deps, at, bundles.slice(1), undefined).map((outcomes) => outcomes.map(numberOf))).toEqual([[42n]])
})

it('simulation/call/callMany: applies state overrides to all messages, and environment overrides to their bundle', () => {
  const state = new Map([[counter, { stateDiff: new Map([[zeroHash, 9n]]) }]])
  const bundles = [
    { messages: [message({}), message({ to: clock })], block: { timestamp: 5 } },
    { messages: [message({}), message({ to: clock })], block: {} },
  ]
  const expected = [
    [10n, 5n],
    [11n, 1_900_000_000n],
  ]
  expect(callMany(deps, at, bundles, state).map((outcomes) => outcomes.map(numberOf))).toEqual(expected)
})

it('simulation/call/callMany: reverts a failed message, runs the next ones, and keeps the gas fee', () => {
  const price = { gasPrice: 10n ** 9n, gasLimit: 100_000n }
  const failing = callMany(deps, at, [{ messages: [message({ to: halts, ...price }), message({})], block: {} }], undefined)
  expect(failing.map((outcomes) => outcomes.map(({ kind }) => kind))).toEqual([['halt', 'success']])
  const all = message({ to: other, value: 10n ** 18n })
  const poor = callMany(deps, at, [{ messages: [message({ to: halts, ...price }), all], block: {} }], undefined)
  const want = 10n ** 18n
  expect(poor[0]?.[1]).toEqual({ kind: 'refused', refusal: { kind: 'insufficient-funds', have: want - 10n ** 14n, want } })
})

it.each([
  ['return', returnsMuch],
  ['revert with', revertsMuch],
])('simulation/call/callMany: ends when the messages of all bundles %s more than 16 MB', (_what, to) => {
  const bundle = (count: number) => ({ messages: Array<CallMessage>(count).fill(message({ to, gasLimit: 10_000_000n })), block: {} })
  expect(callMany(deps, at, [bundle(8), bundle(8)], undefined).flat()).toHaveLength(16)
  const beyond = callMany(deps, at, [bundle(8), bundle(10), bundle(1)], undefined)
  expect(beyond.map((outcomes) => outcomes.length)).toEqual([8, 9])
  expect(beyond[1]?.at(-1)).toEqual({ kind: 'too-big', maxBytes: 16_000_000 })
})
