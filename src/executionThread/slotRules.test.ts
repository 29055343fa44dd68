import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { accountOf } from '#test/harness/chain/blocks'
import type { Address, Hash } from '#types/ids'
import { type CodeCall, SlotRules } from './slotRules.ts'

const [alice, bob, carol] = [accountOf('alice'), accountOf('bob'), accountOf('carol')]
const [token, otherToken] = [keccak256(Uint8Array.of(1)), keccak256(Uint8Array.of(2))]
const codeHash = `0x${'c0'.repeat(32)}` as Hash
const transfer = Uint8Array.of(0xa9, 0x05, 0x9c, 0xbb)

const wordOf = (address: Address): Uint8Array => concatBytes(new Uint8Array(12), fromHex(address))
const number = (value: number): Uint8Array => Uint8Array.of(...new Uint8Array(31), value)
const transferOf = (sender: Address, to: Address, fields: Partial<CodeCall> = {}): CodeCall => ({
  sender,
  addressKey: token,
  codeHash,
  data: concatBytes(transfer, wordOf(to), number(5)),
  ...fields,
})
/** Hashed key of the slot of an element, as the compiler of Solidity places it. */
const balanceKey = (owner: Address, mapping = 3): Uint8Array => keccak256(keccak256(concatBytes(wordOf(owner), number(mapping))))
const hexes = (keys: readonly Uint8Array[]): string[] => keys.map(toHex)

/** Learns that a transfer reads the balances of sender and receiver, in the mapping at slot 3. */
function learned(): SlotRules {
  const rules = new SlotRules()
  rules.begin()
  expect(rules.slotsOf(transferOf(alice, bob))).toEqual([])
  for (const owner of [alice, bob]) rules.read({ addressKey: token, slotKey: balanceKey(owner) })
  rules.begin()
  return rules
}

it('executionThread/slotRules: expects the elements of mappings that earlier runs of the same function read, of any contract with the code', () => {
  const rules = learned()
  expect(hexes(rules.slotsOf(transferOf(bob, carol)))).toEqual(hexes([balanceKey(bob), balanceKey(carol)]))
  expect(hexes(rules.slotsOf(transferOf(carol, alice, { addressKey: otherToken })))).toEqual(hexes([balanceKey(carol), balanceKey(alice)]))
})

it('executionThread/slotRules: expects nothing of another function, of other code, and of a call without a selector', () => {
  const rules = learned()
  expect(rules.slotsOf(transferOf(bob, carol, { codeHash: `0x${'c1'.repeat(32)}` as Hash }))).toEqual([])
  expect(rules.slotsOf(transferOf(bob, carol, { data: concatBytes(Uint8Array.of(1, 2, 3, 4), wordOf(carol)) }))).toEqual([])
  for (const size of [0, 3]) expect(rules.slotsOf(transferOf(bob, carol, { data: transfer.subarray(0, size) }))).toEqual([])
  // arguments that are missing or short
  expect(hexes(rules.slotsOf(transferOf(bob, carol, { data: transfer })))).toEqual(hexes([balanceKey(bob)]))
  expect(hexes(rules.slotsOf(transferOf(bob, carol, { data: concatBytes(transfer, new Uint8Array(31)) })))).toEqual(
    hexes([balanceKey(bob)]),
  )
})

it('executionThread/slotRules: learns nothing from slots that are no element by a word of the call, of other accounts, and of earlier blocks', () => {
  const rules = new SlotRules()
  rules.begin()
  rules.slotsOf(transferOf(alice, bob))
  rules.read({ addressKey: token, slotKey: undefined })
  rules.read({ addressKey: token, slotKey: keccak256(number(0)) })
  rules.read({ addressKey: token, slotKey: balanceKey(alice, 10) })
  rules.read({ addressKey: otherToken, slotKey: balanceKey(alice) })
  rules.begin()
  rules.read({ addressKey: token, slotKey: balanceKey(alice) })
  expect(rules.slotsOf(transferOf(bob, carol))).toEqual([])
})

it('executionThread/slotRules: learns from the first four calls of a function', () => {
  const learnsFrom = (call: number): boolean => {
    const rules = new SlotRules()
    rules.begin()
    for (let before = 1; before < call; before++) rules.slotsOf(transferOf(bob, carol))
    rules.slotsOf(transferOf(alice, bob))
    rules.read({ addressKey: token, slotKey: balanceKey(alice) })
    return rules.slotsOf(transferOf(alice, bob)).length > 0
  }
  expect([1, 4, 5].map(learnsFrom)).toEqual([true, true, false])
})

it('executionThread/slotRules: learns from 64 calls of a block', () => {
  const rules = new SlotRules()
  const selectors = Array.from({ length: 65 }, (_, at) =>
    transferOf(alice, bob, { data: concatBytes(number(at).subarray(28), wordOf(bob)) }),
  )
  rules.begin()
  for (const call of selectors) rules.slotsOf(call)
  rules.read({ addressKey: token, slotKey: balanceKey(bob) })
  expect(selectors.map((call) => rules.slotsOf(call).length)).toEqual([...Array.from({ length: 63 }, () => 0), 1, 0])
})
