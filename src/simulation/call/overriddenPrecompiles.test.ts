import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex } from '#lib/hex'
import { sha256 } from '#lib/sha256'
import type { CallMessage, CallOutcome, MeasuredCall, StateOverrides } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { type Address, parseAddress } from '#types/ids'
import { listCall } from './accessList.ts'
import { type CallDeps, runCall } from './callExecutor.ts'
import { overriddenRules } from './overriddenPrecompiles.ts'

const at0x = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`)
const sha = at0x(2)
const near = at0x(0x3ff)
const far = testAddress(0xee)
const sizes = testAddress(0xc1)

// returns the difference of GAS before and after EXTCODESIZE(sha)
const account = testAccount(sizes, { code: `0x5a73${sha.slice(2)}3b505a900360005260206000f3` })
const callers = testAddress(0xc2)
// calls `far` with its calldata; returns the gas that the call used, whether it succeeded, and its output
const caller = testAccount(callers, { code: `0x3660006000375a6020604036600073${far.slice(2)}5afa6020525a900360005260606000f3` })
const { config: chain } = smallChain(scheduleTo('jovian'))
const config = { ...chain, l2ChainId: 901 } as unknown as CallDeps['config']
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n })
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState([account, caller]).state }
const deps = { evm: createWasmEvm(), config }

const data = Uint8Array.of(1, 2, 3)
const messageTo = (to: Address): CallMessage => {
  const fees = { gasLimit: 1_000_000n, gasPrice: 0n }
  return { from: testAddress(0xa1), to, value: 0n, data, ...fees, accessList: [], authorizationList: [] }
}
function run(to: Address, state: StateOverrides, on: CallDeps = deps): MeasuredCall {
  return runCall(on, at, messageTo(to), { state })
}
const outputOf = (outcome: CallOutcome): string => ('output' in outcome ? toHex(outcome.output) : JSON.stringify(outcome))
const digest = toHex(sha256(data))

it.each([
  ['below 0x400', near],
  ['from 0x400 on', far],
])('simulation/call/overriddenPrecompiles: runs a moved precompile only at its new address, %s', (_where, to) => {
  const moved: StateOverrides = new Map([[sha, { movePrecompileTo: to }]])
  const plain = run(sha, new Map())
  expect(outputOf(plain.outcome)).toBe(digest)
  expect(run(to, moved)).toEqual(plain)
  expect(outputOf(run(sha, moved).outcome)).toBe('0x')
  expect(outputOf(run(to, new Map()).outcome)).toBe('0x')
})

it('simulation/call/overriddenPrecompiles: runs code that replaces a precompile, with a warm account', () => {
  const code = fromHex('0x60aa60005260206000f3')
  expect(outputOf(run(sha, new Map([[sha, { code }]])).outcome)).toBe(`0x${'aa'.padStart(64, '0')}`)
  const cost = run(sizes, new Map([[sha, { code }]])).outcome
  expect(cost).toEqual(run(sizes, new Map()).outcome)
})

it('simulation/call/overriddenPrecompiles: disables a precompile by any override of its account, but not by one of another account', () => {
  expect(outputOf(run(sha, new Map([[sha, { balance: 1n }]])).outcome)).toBe('0x')
  expect(outputOf(run(sha, new Map([[near, { balance: 1n }]])).outcome)).toBe(digest)
})

it('simulation/call/overriddenPrecompiles: a contract calls a moved precompile as in the reference interpreter, twice the same', () => {
  const moved: StateOverrides = new Map([[sha, { movePrecompileTo: far }]])
  const { config } = deps
  const expected = run(callers, moved, { evm: createReferenceEvm(), config })
  const words = outputOf(expected.outcome).slice(2)
  expect(BigInt(`0x${words.slice(0, 64)}`)).toBeGreaterThan(2_600n)
  expect(words.slice(64)).toBe(`${'1'.padStart(64, '0')}${digest.slice(2)}`)
  expect([run(callers, moved), run(callers, moved)]).toEqual([expected, expected])
  expect(run(callers, new Map()).outcome).toEqual(run(callers, new Map(), { evm: createReferenceEvm(), config }).outcome)
})

it('simulation/call/overriddenPrecompiles: traces a call of a precompile that was moved to any address', () => {
  for (const to of [near, far]) {
    const state: StateOverrides = new Map([[sha, { movePrecompileTo: to }]])
    const listed = listCall({ ...deps, traced: createTracedWasmEvm() }, at, messageTo(to), { state })
    expect(listed).toEqual({ accessList: [], measured: run(to, state) })
  }
})

it('simulation/call/overriddenPrecompiles: keeps the rules when no precompile is overridden', () => {
  expect(rulesOf(new Map([[far, { balance: 1n }]])).rules).toBe(rulesOf(new Map()).rules)
})

const plainRules = { fork: 'prague', precompileLimits: {} } as const
function rulesOf(overrides: StateOverrides) {
  const made = overriddenRules(plainRules, overrides)
  if (made.kind === 'refused') throw new Error(made.reason)
  return made
}

it.each<[string, StateOverrides, string]>([
  ['an account that is not a precompile', new Map([[far, { movePrecompileTo: near }]]), `account ${far} is not a precompile`],
  ['a precompile to its own address', new Map([[sha, { movePrecompileTo: sha }]]), `account ${sha} is already overridden`],
  [
    'a precompile to an overridden account',
    new Map([
      [sha, { movePrecompileTo: far }],
      [far, { balance: 1n }],
    ]),
    `account ${far} is already overridden`,
  ],
])('simulation/call/overriddenPrecompiles: refuses to move %s', (_what, overrides, reason) => {
  expect(run(sha, overrides).outcome).toEqual({ kind: 'refused', refusal: { kind: 'override', reason } })
})
