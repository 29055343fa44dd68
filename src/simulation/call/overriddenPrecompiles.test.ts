import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex } from '#lib/hex'
import { sha256 } from '#lib/sha256'
import type { CallMessage, CallOutcome, MeasuredCall, StateOverrides } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { type Address, parseAddress } from '#types/ids'
import { type CallDeps, runCall } from './callExecutor.ts'
import { createOverridableEvm, isBeyondCompiled, overriddenRules } from './overriddenPrecompiles.ts'

const at0x = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`)
const sha = at0x(2)
const near = at0x(0x3ff)
const far = testAddress(0xee)
const sizes = testAddress(0xc1)

// returns the difference of GAS before and after EXTCODESIZE(sha)
const account = testAccount(sizes, { code: `0x5a73${sha.slice(2)}3b505a900360005260206000f3` })
const { config: chain } = smallChain(scheduleTo('jovian'))
const config = { ...chain, l2ChainId: 901 } as unknown as CallDeps['config']
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n })
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState([account]).state }
const deps = { evm: createOverridableEvm(createWasmEvm()), config }

const data = Uint8Array.of(1, 2, 3)
function run(to: Address, state: StateOverrides): MeasuredCall {
  const fees = { gasLimit: 1_000_000n, gasPrice: 0n }
  const message: CallMessage = { from: testAddress(0xa1), to, value: 0n, data, ...fees, accessList: [], authorizationList: [] }
  return runCall(deps, at, message, { state })
}
const outputOf = (outcome: CallOutcome): string => ('output' in outcome ? toHex(outcome.output) : JSON.stringify(outcome))
const digest = toHex(sha256(data))

it.each([
  ['within the range of the compiled interpreter', near],
  ['beyond the range of the compiled interpreter', far],
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

it('simulation/call/overriddenPrecompiles: keeps the rules without a precompile in the overrides, and is beyond the compiled range only at far addresses', () => {
  const { rules } = rulesOf(new Map())
  expect(rulesOf(new Map([[far, { balance: 1n }]])).rules).toBe(rules)
  expect(isBeyondCompiled(rulesOf(new Map([[sha, { movePrecompileTo: near }]])).rules)).toBe(false)
  expect(isBeyondCompiled(rulesOf(new Map([[sha, { movePrecompileTo: far }]])).rules)).toBe(true)
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
