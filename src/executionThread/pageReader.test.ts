import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeAccountRow } from '#state/account'
import { accountNodesTable, accountsTable, nodeKey, storageNodesTable, storageTable } from '#state/rows'
import type { Kv } from '#store/ports'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { nibblesOf } from '#trie/nibbles'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { decodeTransaction, depositType, type FeeMarketTransaction, type SignedTransaction } from '#types/transaction'
import { PageReader } from './pageReader.ts'
import { SlotRules } from './slotRules.ts'

type Look = readonly [table: number, key: Uint8Array]

/** Returns the rows that a reader looks at. */
function looksOf(read: (reader: PageReader) => void, kv: Kv = createMemoryKv(), rules: SlotRules = new SlotRules()): readonly Look[] {
  const looks: Look[] = []
  using snapshot = kv.snapshot()
  const peek = <T>(table: number, key: Uint8Array, use: (value: Uint8Array) => T): T | undefined => {
    looks.push([table, key])
    return snapshot.peek(table, key, use)
  }
  read(new PageReader({ ...snapshot, peek }, rules))
  return looks
}

const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))
const accountLooks = (address: Address): readonly Look[] => [
  [accountsTable, keyOf(address)],
  [accountNodesTable, nodeKey(undefined, nibblesOf(keyOf(address))).key],
]
const slotLooks = (address: Address, slot: Hash): readonly Look[] => [
  [storageTable, concatBytes(keyOf(address), keyOf(slot))],
  [storageNodesTable, nodeKey(keyOf(address), nibblesOf(keyOf(slot))).key],
]

const [alice, bob, carol] = [accountOf('alice'), accountOf('bob'), accountOf('carol')]
const slots: readonly Hash[] = [`0x${'01'.repeat(32)}` as Hash, `0x${'02'.repeat(32)}` as Hash]

function byAlice(fields: Partial<FeeMarketTransaction>): SignedTransaction {
  const tx = decodeTransaction(signedBy('alice', fields))
  return tx.type === depositType ? expect.fail() : tx
}

it('executionThread/pageReader: reads sender, target and access list of a transaction, and the nodes above them', () => {
  const tx = byAlice({ to: bob, accessList: [{ address: carol, slots }] })
  const expected = [
    ...accountLooks(alice),
    ...accountLooks(bob),
    ...accountLooks(carol),
    ...slots.flatMap((slot) => slotLooks(carol, slot)),
  ]
  expect(looksOf((reader) => reader.transaction(alice, tx))).toEqual(expected)
})

it('executionThread/pageReader: reads 64 accounts and slots of an access list', () => {
  const many = Array.from({ length: 3_000 }, () => slots[0] ?? expect.fail())
  const listed = (accessList: FeeMarketTransaction['accessList']): number =>
    looksOf((reader) => reader.transaction(alice, byAlice({ to: null, accessList }))).length / 2 - 1
  expect(listed([{ address: carol, slots: many }])).toBe(64)
  expect(listed(many.map(() => ({ address: carol, slots: [] })))).toBe(64)
  expect(listed(many.map(() => ({ address: carol, slots })))).toBe(64)
  expect(
    listed([
      { address: carol, slots: many.slice(0, 63) },
      { address: carol, slots: [] },
    ]),
  ).toBe(64)
})

it('executionThread/pageReader: reads no target of a creation', () => {
  expect(looksOf((reader) => reader.transaction(alice, byAlice({ to: null })))).toEqual(accountLooks(alice))
})

it('executionThread/pageReader: reads the slots that earlier runs of the target’s code let expect', () => {
  const kv = createMemoryKv()
  const code = { nonce: 1n, balance: 0n, storageRoot: emptyRoot, codeHash: `0x${'c0'.repeat(32)}` as Hash }
  kv.write((tx) => tx.put(accountsTable, keyOf(bob), encodeAccountRow(code)))
  const rules = new SlotRules()
  const call = byAlice({ to: bob, data: Uint8Array.of(0xa9, 0x05, 0x9c, 0xbb) })
  const target = [...accountLooks(alice), ...accountLooks(bob)]
  rules.begin()
  expect(looksOf((reader) => reader.transaction(alice, call), kv, rules)).toEqual(target)
  // the element of the sender, in the mapping at slot 0
  const slot = toHex(keccak256(concatBytes(new Uint8Array(12), fromHex(alice), new Uint8Array(32)))) as Hash
  rules.read({ addressKey: keyOf(bob), slotKey: keyOf(slot) })
  expect(looksOf((reader) => reader.transaction(alice, call), kv, rules)).toEqual([...target, ...slotLooks(bob, slot)])
  const plain = { ...code, codeHash: emptyCodeHash }
  kv.write((tx) => tx.put(accountsTable, keyOf(carol), encodeAccountRow(plain)))
  // an account without code, and one that does not exist
  for (const to of [carol, alice]) {
    expect(looksOf((reader) => reader.transaction(alice, byAlice({ to, data: call.data })), kv, rules)).toEqual([
      ...accountLooks(alice),
      ...accountLooks(to),
    ])
  }
})

it('executionThread/pageReader: reads the nodes above noted keys', () => {
  const [addressKey, slotKey] = [keyOf(bob), keyOf(slots[0] ?? expect.fail())]
  expect(looksOf((reader) => reader.nodes({ addressKey, slotKey: undefined }))).toEqual([
    [accountNodesTable, nodeKey(undefined, nibblesOf(addressKey)).key],
  ])
  expect(looksOf((reader) => reader.nodes({ addressKey, slotKey }))).toEqual([
    [storageNodesTable, nodeKey(addressKey, nibblesOf(slotKey)).key],
  ])
})
