import { expect, it } from 'vitest'
import type { StateView } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { tables } from '#store/tables'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { emptyCodeHash, emptyRoot, hashFromBytes } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { encodeAccountRow } from './account.ts'
import { latestState, writeGenesis } from './chainState.ts'
import { emptyState } from './genesisState.ts'
import { provenState } from './provenState.ts'
import { computeStateRoot } from './stateRoot.ts'

const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n))
const code = Uint8Array.of(0x60, 0x01)
const codeHash = hashFromBytes(keccak256(code))
const numbers = Array.from({ length: 40 }, (_, i) => i + 1)
const diff = createStateDiff({
  accounts: numbers.map((n) => ({
    key: key(n),
    change: { nonce: BigInt(n), balance: 1_000n, codeHash: n === 2 ? codeHash : emptyCodeHash },
    wiped: false,
  })),
  slots: numbers.map((n) => ({ addressKey: key(1), slotKey: key(n), value: new Uint8Array(32).fill(n) })),
  codes: [{ hash: codeHash, code }],
})
const trie = computeStateRoot(emptyState.nodes, emptyRoot, diff)

/** A store with accounts 1 to 40, slots 1 to 40 of account 1, and the code of account 2. */
function stored() {
  const kv = createMemoryKv()
  kv.write((tx) => writeGenesis(tx, diff, trie))
  const read = <T>(run: (view: StateView) => T, isProven = true): T => {
    using reader = kv.snapshot()
    const state = latestState(reader, (number) => (number === 7 ? codeHash : undefined))
    return run((isProven ? provenState(state, trie.root) : state).view)
  }
  return { kv, read }
}

it('state/provenState: has the values of the state', () => {
  const { read } = stored()
  for (const n of [...numbers, 41]) {
    expect(read((view) => view.account(key(n)))).toEqual(read((view) => view.account(key(n)), false))
    expect(read((view) => view.slot(key(1), key(n)))).toEqual(read((view) => view.slot(key(1), key(n)), false))
  }
  expect(read((view) => view.slot(key(3), key(1)))).toBeUndefined()
  expect(read((view) => [view.code(codeHash), view.code(emptyCodeHash)])).toEqual([code, new Uint8Array(0)])
  expect(read((view) => [view.blockHash(7), view.blockHash(8)])).toEqual([codeHash, undefined])
})

const account5 = { nonce: 5n, balance: 1_000n, codeHash: emptyCodeHash, storageRoot: emptyRoot }
const slot5 = concatBytes(key(1), key(5))
const readAccount = (view: StateView): unknown => view.account(key(5))
const readSlot = (view: StateView): unknown => view.slot(key(1), key(5))

it.each([
  ['a balance that differs by a bit', tables.accounts.id, key(5), encodeAccountRow({ ...account5, balance: 1_001n }), readAccount],
  ['an account that is not there', tables.accounts.id, key(5), undefined, readAccount],
  [
    'an account that should not be there',
    tables.accounts.id,
    key(50),
    encodeAccountRow(account5),
    (view: StateView) => view.account(key(50)),
  ],
  ['another storage root', tables.accounts.id, key(5), encodeAccountRow({ ...account5, storageRoot: trie.root }), readAccount],
  ['a value that differs by a bit', tables.storage.id, slot5, new Uint8Array(32).fill(5).fill(4, 31), readSlot],
  ['a slot that is not there', tables.storage.id, slot5, undefined, readSlot],
  [
    'a slot that should not be there',
    tables.storage.id,
    concatBytes(key(1), key(50)),
    Uint8Array.of(1),
    (view: StateView) => view.slot(key(1), key(50)),
  ],
  ['another code', tables.code.id, keccak256(code), Uint8Array.of(0x60, 0x02), (view: StateView) => view.code(codeHash)],
] as const)('state/provenState: finds %s (STATE_DAMAGED)', (_, table, row, value, run) => {
  const { kv, read } = stored()
  kv.write((tx) => (value === undefined ? tx.delete(table, row) : tx.put(table, row, value)))
  expect(() => read(run)).toThrow(
    expect.objectContaining({ code: 'STATE_DAMAGED', severity: 'fatal', message: expect.stringContaining('chain/data.mdb') }),
  )
  // a read without a proof does not notice
  expect(read(run, false)).not.toEqual(stored().read(run))
})

it.each([
  ['the account trie', tables.accountNodes.id, Uint8Array.of(0x10), readAccount],
  ['a storage trie', tables.storageNodes.id, concatBytes(key(1), Uint8Array.of(0x10)), readSlot],
] as const)('state/provenState: finds a node of %s in which the hash of a child differs by a bit (STATE_DAMAGED)', (_, table, row, run) => {
  const { kv, read } = stored()
  kv.write((tx) => {
    const node = tx.get(table, row) as Uint8Array
    for (let at = 20; at < node.length; at += 33) node[at] = (node[at] as number) ^ 1
    tx.put(table, row, node)
  })
  expect(() => read(run)).toThrow(expect.objectContaining({ code: 'STATE_DAMAGED' }))
  expect(read(run, false)).toEqual(stored().read(run))
})

it('state/rowState: names a row that cannot be decoded, without a proof too (STATE_DAMAGED)', () => {
  const { kv, read } = stored()
  kv.write((tx) => {
    tx.put(tables.accounts.id, key(5), Uint8Array.of(0xff, 1))
    tx.put(tables.storage.id, slot5, new Uint8Array(33))
  })
  for (const run of [readAccount, readSlot]) {
    for (const isProven of [true, false]) expect(() => read(run, isProven)).toThrow(expect.objectContaining({ code: 'STATE_DAMAGED' }))
  }
})
