import { expect, it } from 'vitest'
import type { EvmRules } from '#chainspec/evmRules'
import { networkOf } from '#chainspec/networks'
import { evmRulesAt } from '#chainspec/opRules'
import { precompileNames } from '#chainspec/precompileNames'
import { fromHex } from '#lib/hex'
import { addressOf, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { ethereumRules } from './ethereumFees.ts'
import { createWorld } from './stateTestWorld.ts'

const { schedule } = networkOf('base').config
const ofBase = (['canyon', 'ecotone', 'fjord', 'granite', 'isthmus', 'jovian', 'azul'] as const).map(
  (fork) => [`Base's ${fork}`, evmRulesAt(schedule, schedule[fork] ?? expect.fail(fork))] as const,
)

const sender = addressOf(0x11)
const contract = addressOf(0x22)
/** Runs BALANCE of the first input word: 100 gas for addresses that are warm at the start, as precompiles are (EIP-2929). */
const world = createWorld({ [contract]: testAccount({ code: '0x6000353100' }) })
const pushGas = 3n + 3n
const evm = createReferenceEvm()

function isWarm(rules: EvmRules, address: number): boolean {
  const session = evm.open(world.view, testBlock, rules)
  session.beginTransaction(testTransaction(sender))
  const data = fromHex(`0x${address.toString(16).padStart(64, '0')}`)
  return 10_000n - session.run({ caller: sender, to: contract, value: 0n, data, gas: 10_000n }).gasLeft === pushGas + 100n
}

it.each([...Object.entries(ethereumRules), ...ofBase])('chainspec/precompileNames: names exactly the precompiles of %s', (_name, rules) => {
  const numbers = Array.from({ length: 0x200 }, (_, number) => number).filter((number) => isWarm(rules, number))
  expect([...precompileNames(rules).values()].map(Number)).toEqual(numbers)
})
