import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { accountNodesTable, accountsTable, nodeRow, storageNodesTable, storageTable } from '#state/rows'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { nibblesOf } from '#trie/nibbles'
import type { Address, Hash } from '#types/ids'
import { decodeTransaction, depositType, type FeeMarketTransaction, type SignedTransaction } from '#types/transaction'
import { PageReader } from './pageReader.ts'

type Look = readonly [table: number, key: Uint8Array]

/** Returns the rows that a reader looks at. */
function looksOf(read: (reader: PageReader) => void): readonly Look[] {
  const looks: Look[] = []
  using snapshot = createMemoryKv().snapshot()
  const look = (table: number, key: Uint8Array): undefined => {
    looks.push([table, key])
  }
  read(new PageReader({ ...snapshot, look }))
  return looks
}

const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))
const accountLooks = (address: Address): readonly Look[] => [
  [accountsTable, keyOf(address)],
  [accountNodesTable, nodeRow(undefined, nibblesOf(keyOf(address))).key],
]
const slotLooks = (address: Address, slot: Hash): readonly Look[] => [
  [storageTable, concatBytes(keyOf(address), keyOf(slot))],
  [storageNodesTable, nodeRow(keyOf(address), nibblesOf(keyOf(slot))).key],
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

it('executionThread/pageReader: reads the nodes above noted keys', () => {
  const [addressKey, slotKey] = [keyOf(bob), keyOf(slots[0] ?? expect.fail())]
  expect(looksOf((reader) => reader.nodes({ addressKey, slotKey: undefined }))).toEqual([
    [accountNodesTable, nodeRow(undefined, nibblesOf(addressKey)).key],
  ])
  expect(looksOf((reader) => reader.nodes({ addressKey, slotKey }))).toEqual([
    [storageNodesTable, nodeRow(addressKey, nibblesOf(slotKey)).key],
  ])
})
