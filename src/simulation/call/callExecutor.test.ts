import { getContractAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createWasmEvm } from '#evm/wasmEvm'
import { bigintFromBytes, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { AccountOverride, BlockOverrides, CallMessage, CallOutcome, CallOverrides } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { callMessage } from '#test/harness/evm/callMessage'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { type Address, type Hash, parseAddress, parseHash, zeroAddress, zeroHash } from '#types/ids'
import { runCall } from './callExecutor.ts'

const rich = testAddress(0xa1)
const spent = testAddress(0xa2)
const env = testAddress(0xc0)
const counter = testAddress(0xc1)
const reverts = testAddress(0xc2)
const halts = testAddress(0xc3)
const gas = testAddress(0xc4)
const slotCost = testAddress(0xc5)
const clears = testAddress(0xc6)
const balanceOfCaller = testAddress(0xc7)
const nobody = testAddress(0xdd)

const push2 = (value: number): string => `61${value.toString(16).padStart(4, '0')}`
/** Returns code that stores the word of each opcode in memory and returns all words. */
const returnWords = (...ops: string[]): string =>
  `0x${ops.map((op, at) => `${op}${push2(at * 32)}52`).join('')}${push2(ops.length * 32)}6000f3`

/** CALLER BALANCE, ORIGIN, GASPRICE, CALLVALUE, COINBASE, TIMESTAMP, NUMBER, PREVRANDAO, GASLIMIT, CHAINID, BASEFEE */
const environment = ['3331', '32', '3a', '34', '41', '42', '43', '44', '45', '46', '48']
const accounts = [
  testAccount(rich, { balance: 10n ** 18n, nonce: 3n }),
  testAccount(spent, { balance: 10n ** 18n, nonce: 2n ** 64n - 1n }),
  testAccount(env, { code: returnWords(...environment) }),
  // SLOAD(0) + 1, stored and returned
  testAccount(counter, { code: '0x6000546001018060005560005260206000f3', storage: new Map([[zeroHash, 41n]]) }),
  testAccount(reverts, { code: '0x61beef6000526002601efd' }),
  testAccount(halts, { code: '0xfe' }),
  testAccount(balanceOfCaller, { code: returnWords('3331') }),
  testAccount(clears, { code: '0x6000600055', storage: new Map([[zeroHash, 41n]]) }),
  testAccount(gas, { code: returnWords('5a') }),
  // returns the difference of GAS before and after SLOAD(5)
  testAccount(slotCost, { code: '0x5a600554505a900360005260206000f3' }),
]

const evm = createWasmEvm()
const { config: chain } = smallChain(scheduleTo('jovian'))
const config = { ...chain, l2ChainId: 901 } as unknown as Parameters<typeof runCall>[0]['config']
const header = headerOf({
  number: 77,
  timestamp: 1_900_000_000,
  beneficiary: testAddress(0xbe),
  mixHash: parseHash(`0x${'77'.repeat(32)}`),
  baseFeePerGas: 1_000n,
})
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState(accounts).state }

const message = callMessage({ from: rich, to: env })
const call = (fields: Partial<CallMessage>, of = at, overrides: CallOverrides = {}): CallOutcome =>
  runCall({ evm, config }, of, { ...message, ...fields }, overrides).outcome
function wordsOf(outcome: CallOutcome): bigint[] {
  if (outcome.kind !== 'success') throw new Error(JSON.stringify(outcome))
  return Array.from({ length: outcome.output.length / 32 }, (_, i) => bigintFromBytes(outcome.output.subarray(i * 32, i * 32 + 32)))
}

it('simulation/call/callExecutor: gives a message the environment of the block and its own sender, price, value and gas', () => {
  expect(wordsOf(call({ value: 5n, gasPrice: 2_000n }))).toEqual([
    10n ** 18n - 1_000_000n * 2_000n - 5n,
    ...[BigInt(rich), 2_000n, 5n, BigInt(testAddress(0xbe)), 1_900_000_000n, 77n, BigInt(`0x${'77'.repeat(32)}`)],
    ...[30_000_000n, 901n, 1_000n],
  ])
})

it('simulation/call/callExecutor: charges nothing without a price, so that a sender without balance can call', () => {
  expect(wordsOf(call({})).slice(0, 3)).toEqual([10n ** 18n, BigInt(rich), 0n])
  expect(wordsOf(call({ from: nobody })).slice(0, 3)).toEqual([0n, BigInt(nobody), 0n])
  expect(wordsOf(call({ from: zeroAddress }))[1]).toBe(0n)
})

it('simulation/call/callExecutor: discards the changes of each call', () => {
  expect([wordsOf(call({ to: counter })), wordsOf(call({ to: counter }))]).toEqual([[42n], [42n]])
})

it('simulation/call/callExecutor: charges intrinsic gas before the first instruction', () => {
  expect(wordsOf(call({ to: gas }))).toEqual([1_000_000n - 21_000n - 2n])
  const data = Uint8Array.of(0, 0, 0, 1)
  expect(wordsOf(call({ to: gas, data }))).toEqual([1_000_000n - 21_000n - 3n * 4n - 16n - 2n])
})

it('simulation/call/callExecutor: charges for a slot of the access list, which is warm (EIP-2930)', () => {
  const slot = `0x${'00'.repeat(31)}05` as Hash
  const [cold = 0n] = wordsOf(call({ to: slotCost }))
  const [warm = 0n] = wordsOf(call({ to: slotCost, accessList: [{ address: slotCost, slots: [slot] }] }))
  expect(cold - warm).toBe(2_000n)
  const listed = call({ to: gas, accessList: [{ address: nobody, slots: [slot] }] })
  expect(wordsOf(listed)).toEqual([1_000_000n - 21_000n - 2_400n - 1_900n - 2n])
})

it('simulation/call/callExecutor: returns the code of a created contract, at the address of the nonce of the sender', () => {
  // returns ADDRESS as the code
  const outcome = call({ to: null, data: fromHex('0x3060005260206000f3') })
  expect(outcome).toEqual({
    kind: 'success',
    output: concatBytes(new Uint8Array(12), fromHex(getContractAddress({ from: rich, nonce: 3n }))),
  })
})

it('simulation/call/callExecutor: returns the reason of a creation that reverts, and a halt for invalid code', () => {
  expect(call({ to: null, data: fromHex('0x61beef6000526002601efd') })).toEqual({ kind: 'revert', output: fromHex('0xbeef') })
  // code that begins with 0xef (EIP-3541)
  expect(call({ to: null, data: fromHex('0x60ef60005360016000f3') })).toEqual({ kind: 'halt', reason: 'invalid code' })
})

it('simulation/call/callExecutor: returns the data of a revert and the reason of a halt', () => {
  expect(call({ to: reverts })).toEqual({ kind: 'revert', output: fromHex('0xbeef') })
  expect(call({ to: halts })).toEqual({ kind: 'halt', reason: 'invalid opcode' })
  expect(call({ to: counter, gasLimit: 21_000n + 2_200n })).toEqual({ kind: 'halt', reason: 'out of gas' })
})

const long = new Uint8Array(49_153)
it.each<[string, Partial<CallMessage>, CallOutcome]>([
  ['a gas limit below the intrinsic gas', { gasLimit: 20_999n }, { kind: 'refused', refusal: { kind: 'intrinsic-gas', needed: 21_000n } }],
  [
    'a gas limit below the floor of its data (EIP-7623)',
    { data: new Uint8Array(100).fill(1), gasLimit: 24_999n },
    { kind: 'refused', refusal: { kind: 'intrinsic-gas', needed: 25_000n } },
  ],
  [
    'a gas cost above the balance',
    { gasPrice: 10n ** 13n },
    { kind: 'refused', refusal: { kind: 'insufficient-funds', have: 10n ** 18n, want: 10n ** 19n } },
  ],
  [
    'a value above the balance',
    { from: nobody, value: 1n },
    { kind: 'refused', refusal: { kind: 'insufficient-funds', have: 0n, want: 1n } },
  ],
  ['a sender with the maximum nonce', { from: spent }, { kind: 'refused', refusal: { kind: 'nonce-overflow' } }],
  ['initcode over the limit', { to: null, data: long, gasLimit: 30_000_000n }, { kind: 'refused', refusal: { kind: 'initcode-size' } }],
])('simulation/call/callExecutor: refuses %s', (_what, fields, expected) => {
  expect(call(fields)).toEqual(expected)
})

it('simulation/call/callExecutor: accepts exactly the required gas', () => {
  expect(call({ to: nobody, gasLimit: 21_000n })).toEqual({ kind: 'success', output: new Uint8Array(0) })
  expect(call({ to: nobody, data: new Uint8Array(100).fill(1), gasLimit: 25_000n }).kind).toBe('success')
})

it('simulation/call/callExecutor: applies the rules of the time of the block: before Canyon no PUSH0 and no limit on initcode', () => {
  const old = { ...config, schedule: scheduleTo('regolith', { canyon: header.timestamp + 1 }) }
  const run = (fields: Partial<CallMessage>) => runCall({ evm, config: old }, at, { ...message, ...fields }).outcome
  expect(run({ to: null, data: fromHex('0x5f') })).toEqual({ kind: 'halt', reason: 'invalid opcode' })
  expect(call({ to: null, data: fromHex('0x5f') })).toEqual({ kind: 'success', output: new Uint8Array(0) })
  expect(run({ to: null, data: long, gasLimit: 30_000_000n }).kind).toBe('success')
})

it('simulation/call/callExecutor: applies a delegation before the message runs, in this call only (EIP-7702)', async () => {
  const authority = privateKeyToAccount(`0x${'42'.repeat(32)}`)
  const signed = await authority.signAuthorization({ chainId: 901, address: counter, nonce: 0 })
  const authorizationList = [
    { chainId: 901n, address: counter, nonce: 0n, yParity: signed.yParity ?? 0, r: BigInt(signed.r), s: BigInt(signed.s) },
  ]
  const to = parseAddress(authority.address)
  expect(wordsOf(call({ to, authorizationList }))).toEqual([1n])
  expect(call({ to })).toEqual({ kind: 'success', output: new Uint8Array(0) })
  const elsewhere = authorizationList.map((each) => ({ ...each, chainId: 902n }))
  expect(call({ to, authorizationList: elsewhere })).toEqual({ kind: 'success', output: new Uint8Array(0) })
  const refused = call({ to, authorizationList, gasLimit: 45_999n })
  const old = { ...config, schedule: scheduleTo('holocene', { isthmus: header.timestamp + 1 }) }
  const early = runCall({ evm, config: old }, at, { ...message, to, authorizationList }).outcome
  expect(early, 'before Isthmus').toEqual({ kind: 'refused', refusal: { kind: 'transaction-type' } })
  expect(refused).toEqual({ kind: 'refused', refusal: { kind: 'intrinsic-gas', needed: 46_000n } })
})

it('simulation/call/callExecutor: reports the gas that a transaction pays for and its refund', () => {
  const measure = (fields: Partial<CallMessage>) => runCall({ evm, config }, at, { ...message, ...fields })
  expect(measure({ to: nobody })).toMatchObject({ gasUsed: 21_000n, gasRefunded: 0n })
  // 100 bytes at the floor of EIP-7623, 40 each
  expect(measure({ to: nobody, data: new Uint8Array(100).fill(1) })).toMatchObject({ gasUsed: 25_000n, gasRefunded: 0n })
  // clears a slot: 21,000 + PUSH1 PUSH1 SSTORE (2,100 cold, 2,900), less a refund of 4,800, which is below a fifth of the sum
  expect(measure({ to: clears })).toMatchObject({ gasUsed: 26_006n - 4_800n, gasRefunded: 4_800n })
  expect(measure({ to: halts })).toMatchObject({ gasUsed: 1_000_000n, gasRefunded: 0n })
  expect(measure({ to: nobody, gasLimit: 1n })).toMatchObject({ gasUsed: 0n, outcome: { kind: 'refused' } })
})

it.each([
  ['before Azul', 1_900_000_001],
  ['under Azul', 1_900_000_000],
])(
  'simulation/call/callExecutor: allows a call more gas than a transaction, because EIP-7825 caps only transactions: %s',
  (_what, azul) => {
    const planned = { ...config, schedule: { ...config.schedule, azul } }
    const { outcome } = runCall({ evm, config: planned }, at, { ...message, to: gas, gasLimit: 40_000_000n })
    expect(wordsOf(outcome)).toEqual([40_000_000n - 21_000n - 2n])
  },
)

const readFive = fromHex('0x60055460005260206000f3')
const five = `0x${'00'.repeat(31)}05` as Hash
const accounts1 = (address: Address, override: AccountOverride): CallOverrides => ({ state: new Map([[address, override]]) })
it.each<[string, Partial<CallMessage>, CallOverrides, readonly bigint[]]>([
  ['a balance', { to: balanceOfCaller, from: nobody }, accounts1(nobody, { balance: 7n }), [7n]],
  ['code, of an account without code', { to: nobody }, accounts1(nobody, { code: fromHex(returnWords('6007')) }), [7n]],
  ['code, of an account with code', { to: counter }, accounts1(counter, { code: fromHex(returnWords('600054')) }), [41n]],
  ['a slot', { to: counter }, accounts1(counter, { stateDiff: new Map([[zeroHash, 9n]]) }), [10n]],
  ['another slot of the account', { to: counter }, accounts1(counter, { stateDiff: new Map([[five, 9n]]) }), [42n]],
  ['the whole storage', { to: counter }, accounts1(counter, { state: new Map([[five, 9n]]) }), [1n]],
  ['the whole storage with nothing', { to: counter }, accounts1(counter, { state: new Map() }), [1n]],
  ['a slot of an account without storage', { to: env }, accounts1(env, { code: readFive, stateDiff: new Map([[five, 9n]]) }), [9n]],
  ['no field of an account', { to: counter }, accounts1(counter, {}), [42n]],
])('simulation/call/callExecutor: overrides %s', (_what, fields, overrides, expected) => {
  expect(wordsOf(call(fields, at, overrides)).slice(-expected.length)).toEqual(expected)
})

it('simulation/call/callExecutor: creates a contract at the address of the overridden nonce', () => {
  const created = (nonce: bigint) => concatBytes(new Uint8Array(12), fromHex(getContractAddress({ from: rich, nonce })))
  const creation = { to: null, data: fromHex('0x3060005260206000f3') }
  expect(call(creation, at, accounts1(rich, { nonce: 9n }))).toEqual({ kind: 'success', output: created(9n) })
})

it('simulation/call/callExecutor: gives a message the overridden environment, under the rules of its block', () => {
  const block: BlockOverrides = {
    number: 5,
    timestamp: 6,
    beneficiary: nobody,
    prevRandao: five,
    gasLimit: 8n,
    baseFee: 9n,
    blobBaseFee: 10n,
    blockHashes: new Map([[3, zeroHash.replace(/00$/, '2a') as Hash]]),
  }
  expect(wordsOf(call({}, at, { block })).slice(4)).toEqual([BigInt(nobody), 6n, 5n, 5n, 8n, 901n, 9n])
  const code = fromHex(returnWords('4a', '600340', '5f'))
  expect(wordsOf(call({ to: nobody }, at, { block, ...accounts1(nobody, { code }) }))).toEqual([10n, 42n, 0n])
})

it('simulation/call/callExecutor: discards an override with its call', () => {
  expect(wordsOf(call({ to: counter }, at, accounts1(counter, { stateDiff: new Map([[zeroHash, 9n]]) })))).toEqual([10n])
  expect(wordsOf(call({ to: counter }))).toEqual([42n])
})
