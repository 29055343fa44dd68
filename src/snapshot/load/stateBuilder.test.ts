import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, concatBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { accountNodesTable, accountsTable, nodeKey, storageNodesTable, storageTable } from '#state/rows'
import { unpackRows } from '#store/bulk/packedRows'
import { SortedTrie } from '#test/reference/trie/sortedTrie'
import { emptyCodeHash, emptyRoot } from '#types/ids'
import { ByteWriter } from '../format/byteReader.ts'
import { putAccount, putSlot } from '../format/chunks.ts'
import { StateBuilder } from './stateBuilder.ts'

type Slot = { readonly key: Uint8Array; readonly value: Uint8Array }
type Account = {
  readonly key: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array | undefined
  readonly slots: readonly Slot[]
}
type Built = { readonly root: string; readonly rows: readonly string[] }

const noRoot = fromHex(emptyRoot)

/** Builds a state by the reference: one row a text, in the order of the builder. */
function reference(accounts: readonly Account[]): Built {
  const rows: string[] = []
  const put = (table: number, key: Uint8Array, value: Uint8Array): void => void rows.push(`${table} ${toHex(key)} ${toHex(value)}`)
  const trie = new SortedTrie((path, node) => put(accountNodesTable, nodeKey(undefined, path).key, node))
  for (const { key, nonce, balance, codeHash, slots } of accounts) {
    const slotTrie = new SortedTrie((path, node) => put(storageNodesTable, nodeKey(key, path).key, node))
    for (const slot of slots) {
      put(storageTable, concatBytes(key, slot.key), slot.value)
      slotTrie.add(slot.key, encodeRlp(slot.value))
    }
    const root = fromHex(slotTrie.end())
    const scalars = [rlpScalar(nonce), rlpScalar(balance)]
    const row = encodeRlp([...scalars, equalBytes(root, noRoot) ? new Uint8Array(0) : root, codeHash ?? new Uint8Array(0)])
    put(accountsTable, key, row)
    trie.add(key, encodeRlp([...scalars, root, codeHash ?? fromHex(emptyCodeHash)]))
  }
  return { root: trie.end(), rows: byTable(rows) }
}

/** Rows of different tables may come in any order. */
const byTable = (rows: readonly string[]): string[] =>
  [...rows]
    .map((row, index) => ({ row, index }))
    .sort((a, b) => Number.parseInt(a.row, 10) - Number.parseInt(b.row, 10) || a.index - b.index)
    .map(({ row }) => row)

const rowsInto =
  (rows: string[]) =>
  (packed: Uint8Array): void => {
    for (const { table, key, value } of unpackRows(packed)) rows.push(`${table} ${toHex(key)} ${toHex(value)}`)
  }

function oneByOne(accounts: readonly Account[], saveAt = -1): Built {
  const rows: string[] = []
  let builder = new StateBuilder({ onRows: rowsInto(rows) })
  let entries = 0
  const next = (): void => {
    if (entries++ !== saveAt) return
    builder.flush()
    const state = builder.save()
    builder = new StateBuilder({ onRows: rowsInto(rows) })
    builder.restore(state)
  }
  for (const { key, nonce, balance, codeHash, slots } of accounts) {
    next()
    builder.account(key, nonce, balance, codeHash)
    for (const slot of slots) {
      next()
      builder.slot(slot.key, slot.value)
    }
  }
  return { root: builder.end(), rows: byTable(rows) }
}

function chunkOf(accounts: readonly Account[]): Uint8Array {
  const out = new ByteWriter()
  for (const { key, nonce, balance, codeHash, slots } of accounts) {
    const own = new ByteWriter()
    for (const slot of slots) putSlot(own, slot.key, slot.value)
    const scalars = { nonce: rlpScalar(nonce), balance: rlpScalar(balance) }
    putAccount(
      out,
      { key, ...scalars, codeHash, storageRoot: undefined },
      slots.length > 0 ? { count: slots.length, bytes: own.view() } : undefined,
    )
  }
  return out.view().slice()
}

const sorted = <T extends { readonly key: Uint8Array }>(entries: readonly T[]): T[] =>
  [...new Map(entries.map((entry) => [toHex(entry.key), entry])).values()].sort((a, b) => compareBytes(a.key, b.key))

/** Keys with few different nibbles at any place, so that they share long prefixes. */
const key = fc
  .tuple(fc.array(fc.constantFrom(0x11, 0x12, 0x21), { minLength: 32, maxLength: 32 }), fc.nat(31))
  .map(([bytes, same]) => Uint8Array.from(bytes, (byte, at) => (at < same ? 0x11 : byte)))
const value = fc
  .uint8Array({ minLength: 1, maxLength: 32 })
  .map((bytes) => Uint8Array.from(bytes, (byte, at) => (at === 0 ? byte || 1 : byte)))
const slots = fc.array(fc.record({ key, value }), { maxLength: 8 }).map(sorted)
const account = fc.record({
  key,
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  balance: fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  codeHash: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 }), { nil: undefined }),
  slots,
})
const state = fc.array(account, { maxLength: 12 }).map(sorted)

describe('snapshot/stateBuilder', () => {
  it('snapshot/stateBuilder: has the root and the rows of the reference, entry by entry, from chunks, and continued from a saved state', () => {
    fc.assert(
      fc.property(state, fc.nat(60), (accounts, saveAt) => {
        const expected = reference(accounts)
        expect(oneByOne(accounts)).toEqual(expected)
        expect(oneByOne(accounts, saveAt)).toEqual(expected)
        const rows: string[] = []
        const builder = new StateBuilder({ onRows: rowsInto(rows) })
        expect(builder.addAccounts(chunkOf(accounts))).toBeUndefined()
        expect({ root: builder.end(), rows: byTable(rows) }).toEqual(expected)
      }),
      { numRuns: 120 },
    )
  })

  it('snapshot/stateBuilder: 20,000 slots of one account and 5,000 accounts give the rows of the reference', () => {
    const hash = (seed: number, i: number): Uint8Array => keccak256(Uint8Array.of(seed, i >> 16, (i >> 8) & 255, i & 255))
    const valueAt = (i: number): Uint8Array =>
      hash(3, i)
        .subarray(0, 1 + (i % 32))
        .map((byte, at) => (at === 0 ? byte || 1 : byte))
    const many = sorted(Array.from({ length: 20_000 }, (_, i) => ({ key: hash(1, i), value: valueAt(i) })))
    const accounts = sorted(
      Array.from({ length: 5_000 }, (_, i) => ({
        key: hash(2, i),
        nonce: BigInt(i),
        balance: BigInt(i) ** 5n,
        codeHash: undefined,
        slots: i === 7 ? many : [],
      })),
    )
    const expected = reference(accounts)
    const rows: string[] = []
    const builder = new StateBuilder({ onRows: rowsInto(rows) })
    builder.addAccounts(chunkOf(accounts))
    expect({ root: builder.end(), rows: byTable(rows) }).toEqual(expected)
    expect(builder.counts).toMatchObject({ accounts: 5_000, slots: 20_000 })
  })

  const one: Account = { key: new Uint8Array(32).fill(7), nonce: 1n, balance: 2n, codeHash: undefined, slots: [] }
  const chunk = chunkOf([{ ...one, slots: [{ key: new Uint8Array(32), value: Uint8Array.of(1) }] }])
  const changed = (at: number, byte: number): Uint8Array => chunk.map((old, index) => (index === at ? byte : old))
  it.each([
    ['a chunk that ends early', chunk.subarray(0, -1)],
    ['more slots than follow', changed(40, 2)],
    ['flags that are not defined', changed(32, 8)],
    ['both kinds of slots', changed(32, 6)],
    ['a nonce of nine bytes', changed(33, 9)],
    ['a balance with a leading zero', changed(36, 0)],
    ['an empty value', changed(73, 0)],
    ['a value with a leading zero', changed(74, 0)],
    ['a value of 200 bytes', concatBytes(changed(73, 200), new Uint8Array(200))],
    ['the same account twice', concatBytes(chunk, chunk)],
  ])('snapshot/stateBuilder: refuses %s', (_case, raw) => {
    expect(() => new StateBuilder().addAccounts(raw)).toThrow(/it |above/)
  })

  it('snapshot/stateBuilder: refuses a key outside the prefix, and an account whose code is missing', () => {
    expect(() => new StateBuilder().addAccounts(chunk, 0, Uint8Array.of(0, 8))).toThrow(/outside/)
    const builder = new StateBuilder()
    builder.addAccounts(chunk, 0, Uint8Array.of(0, 7))
    const whole = new StateBuilder()
    whole.addAccounts(chunk)
    expect(builder.end()).toBe(whole.end())
    expect(builder.counts).toMatchObject({ accounts: 1, slots: 1 })
    const withCode = chunkOf([{ ...one, codeHash: new Uint8Array(32).fill(9) }])
    expect(() => new StateBuilder({ hasCode: () => false }).addAccounts(withCode)).toThrow(/the code of account 0x0707/)
  })

  it('snapshot/stateBuilder: reads any bytes as a chunk or refuses them', () => {
    fc.assert(
      fc.property(state, fc.array(fc.tuple(fc.nat(3_000), fc.nat(255)), { maxLength: 4 }), fc.nat(3_000), (accounts, edits, cut) => {
        const raw = chunkOf(accounts)
        for (const [at, byte] of edits) if (at < raw.length) raw[at] = byte
        const builder = new StateBuilder()
        try {
          builder.addAccounts(raw.subarray(0, cut))
        } catch (error) {
          expect(String(error)).toMatch(/it |STATE_UNSORTED|above|missing/)
        }
      }),
      { numRuns: 200 },
    )
  })
})
