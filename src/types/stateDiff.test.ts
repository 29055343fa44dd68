import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyCodeHash, hashFromBytes } from './ids.ts'
import type { StateDiffParts } from './stateDiff.ts'
import { mergeStateDiffs } from './stateDiffMerge.ts'
import { createStateDiff, StateDiffTable } from './stateDiffTable.ts'

const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n >> 8, n & 255))
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const uniqueBy = <T>(entries: readonly T[], name: (entry: T) => string): T[] => [
  ...new Map(entries.map((entry) => [name(entry), entry])).values(),
]

const change = fc.record({
  nonce: fc.bigInt(0n, (1n << 64n) - 1n),
  balance: fc.bigInt(0n, (1n << 256n) - 1n),
  codeHash: bytes32.map(hashFromBytes),
})
const accounts = fc
  .array(fc.record({ key: fc.nat(400).map(key), change: fc.option(change, { nil: null }), wiped: fc.boolean() }), { maxLength: 60 })
  .map((entries) => uniqueBy(entries, (entry) => toHex(entry.key)))
const slots = fc
  .array(fc.record({ addressKey: fc.nat(20).map((n) => key(n + 1000)), slotKey: fc.nat(60).map(key), value: bytes32 }), { maxLength: 120 })
  .map((entries) => uniqueBy(entries, (entry) => toHex(entry.addressKey) + toHex(entry.slotKey)))
const codes = fc
  .array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 })
  .map((all) => all.map((code) => ({ hash: hashFromBytes(keccak256(code)), code })))
  .map((entries) => uniqueBy(entries, (entry) => entry.hash))
const anyParts: fc.Arbitrary<StateDiffParts> = fc.record({ accounts, slots, codes })

const normal = (parts: StateDiffParts): StateDiffParts => ({
  accounts: parts.accounts
    .map((entry) => ({ ...entry, wiped: entry.wiped || entry.change === null }))
    .sort((a, b) => compareBytes(a.key, b.key)),
  slots: [...parts.slots].sort((a, b) => compareBytes(a.addressKey, b.addressKey) || compareBytes(a.slotKey, b.slotKey)),
  codes: [...parts.codes].sort((a, b) => (a.hash < b.hash ? -1 : 1)),
})

const one: StateDiffParts = {
  accounts: [{ key: key(1), change: { nonce: 1n, balance: 2n, codeHash: emptyCodeHash }, wiped: false }],
  slots: [{ addressKey: key(1), slotKey: key(2), value: key(3) }],
  codes: [{ hash: hashFromBytes(keccak256(key(4))), code: key(4) }],
}

describe('types/stateDiff', () => {
  it('types/stateDiff: finds exactly its entries by key and lists them in ascending order, before and after transfer', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const made = createStateDiff(parts)
        const expected = normal(parts)
        for (const diff of [made, new StateDiffTable(made.bytes)]) {
          expect([...diff.accounts()]).toEqual(expected.accounts)
          expect([...diff.slots()]).toEqual(expected.slots)
          expect([...diff.codes()]).toEqual(expected.codes)
          for (const entry of expected.accounts) {
            expect(diff.account(entry.key)).toEqual(entry.change)
            expect(diff.isWiped(entry.key)).toBe(entry.wiped)
          }
          for (const entry of expected.slots) expect(diff.slot(entry.addressKey, entry.slotKey)).toEqual(entry.value)
          for (const entry of expected.codes) expect(diff.code(entry.hash)).toEqual(entry.code)
          for (let n = 1000; n <= 1022; n++) {
            const isSet = expected.slots.some(
              ({ addressKey, value }) => compareBytes(addressKey, key(n)) === 0 && value.some((byte) => byte > 0),
            )
            expect(diff.setsSlots(key(n))).toBe(isSet)
          }
          expect(diff.hasWipes).toBe(expected.accounts.some(({ wiped }) => wiped))
          expect(diff.account(key(9999))).toBeUndefined()
          expect(diff.isWiped(key(9999))).toBe(false)
          expect(diff.slot(key(1000), key(9999))).toBeUndefined()
          expect(diff.code(hashFromBytes(key(9999)))).toBeUndefined()
        }
      }),
      { numRuns: 40 },
    )
  })

  it('types/stateDiff: finds its entries, and no others, in bounded time while all keys collide', () => {
    const many = 10_000
    const [owner, change] = [key(1), { nonce: 1n, balance: 2n, codeHash: emptyCodeHash }]
    /** Makes a diff and searches in it. @returns the time in milliseconds */
    function search(keyOf: (n: number) => Uint8Array): number {
      const keys = Array.from({ length: many }, (_, n) => keyOf(n))
      const absent = Array.from({ length: many }, (_, n) => keyOf(many + n))
      const startMs = performance.now()
      const made = createStateDiff({
        accounts: keys.map((each) => ({ key: each, change, wiped: false })),
        slots: keys.map((slotKey) => ({ addressKey: owner, slotKey, value: slotKey })),
        codes: [],
      })
      const diff = mergeStateDiffs([made, createStateDiff({ accounts: [], slots: [], codes: [] })])
      const isThere = (each: Uint8Array): boolean => diff.account(each) !== undefined && diff.slot(owner, each)?.[31] === each[31]
      const found = keys.filter(isThere)
      const others = absent.filter((each) => diff.account(each) !== undefined || diff.slot(owner, each) !== undefined)
      const ms = performance.now() - startMs
      expect([found.length, others.length]).toEqual([many, 0])
      return ms
    }
    const usualKey = (n: number): Uint8Array => keccak256(Uint8Array.of(n >> 16, n >> 8, n & 255))
    function collidingKey(n: number): Uint8Array {
      const made = usualKey(n)
      made.set([1, 2, 3, 4])
      return made
    }
    search(usualKey)
    const usualMs = search(usualKey)
    // without a bound some hundred times as long
    expect(search(collidingKey) / usualMs).toBeLessThan(30)
  })

  it('types/stateDiff: the same parts in another order give the same bytes', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const reversed = { accounts: [...parts.accounts].reverse(), slots: [...parts.slots].reverse(), codes: [...parts.codes].reverse() }
        expect(new Uint8Array(createStateDiff(reversed).bytes)).toEqual(new Uint8Array(createStateDiff(parts).bytes))
      }),
      { numRuns: 20 },
    )
  })

  it.each<[string, StateDiffParts]>([
    ['a duplicate account', { ...one, accounts: [...one.accounts, ...one.accounts] }],
    ['a duplicate slot', { ...one, slots: [...one.slots, ...one.slots] }],
    ['a short key', { ...one, accounts: [{ key: key(1).subarray(1), change: null, wiped: false }] }],
    ['a short value', { ...one, slots: [{ addressKey: key(1), slotKey: key(2), value: new Uint8Array(31) }] }],
    ['a slot of a deleted account', { ...one, accounts: [{ key: key(1), change: null, wiped: true }] }],
    [
      'a balance of 2^256',
      { ...one, accounts: [{ key: key(1), change: { nonce: 0n, balance: 1n << 256n, codeHash: emptyCodeHash }, wiped: false }] },
    ],
    [
      'a nonce of 2^64',
      { ...one, accounts: [{ key: key(1), change: { nonce: 1n << 64n, balance: 0n, codeHash: emptyCodeHash }, wiped: false }] },
    ],
  ])('types/stateDiff: rejects %s (RangeError)', (_what, parts) => {
    expect(() => createStateDiff(parts)).toThrow(RangeError)
  })

  it('types/stateDiff: merged diffs have the newest entry of each key, and keep wipes', () => {
    fc.assert(
      fc.property(fc.array(anyParts, { minLength: 1, maxLength: 8 }), (all) => {
        const merged = mergeStateDiffs(all.map(createStateDiff))
        const wiped = new Set(
          all.flatMap((parts) =>
            normal(parts)
              .accounts.filter((entry) => entry.wiped)
              .map((entry) => toHex(entry.key)),
          ),
        )
        const accounts = uniqueBy(
          all.flatMap((parts) => parts.accounts),
          (entry) => toHex(entry.key),
        )
        const expected = createStateDiff({
          accounts: accounts.map((entry) => ({ ...entry, wiped: wiped.has(toHex(entry.key)) })),
          slots: uniqueBy(
            all.flatMap((parts) => parts.slots),
            (entry) => toHex(entry.addressKey) + toHex(entry.slotKey),
          ),
          codes: uniqueBy(
            all.flatMap((parts) => parts.codes),
            (entry) => entry.hash,
          ),
        })
        expect(new Uint8Array(merged.bytes)).toEqual(new Uint8Array(expected.bytes))
      }),
      { numRuns: 40 },
    )
  })

  it('types/stateDiff: merged diffs lose the slots that a later diff wipes', () => {
    const slot = (n: number, value: number) => ({ addressKey: key(1), slotKey: key(n), value: new Uint8Array(32).fill(value) })
    const wipe = { accounts: [{ ...(one.accounts[0] as StateDiffParts['accounts'][number]), wiped: true }], codes: [] }
    const steps = [
      { ...one, slots: [slot(2, 1), slot(3, 1)] },
      { ...wipe, slots: [slot(3, 2)] },
      { ...one, slots: [slot(4, 3)] },
    ]
    const merged = mergeStateDiffs(steps.map(createStateDiff))
    expect([...merged.slots()]).toEqual(normal({ ...one, slots: [slot(3, 2), slot(4, 3)] }).slots)
    expect(merged.isWiped(key(1))).toBe(true)
  })

  it('types/stateDiff: rejects bytes whose header does not fit their size (RangeError)', () => {
    const good = new Uint8Array(createStateDiff(one).bytes)
    const opened = (bytes: Uint8Array) => {
      const shared = new SharedArrayBuffer(bytes.length)
      new Uint8Array(shared).set(bytes)
      return new StateDiffTable(shared)
    }
    for (const cut of [0, 63, good.length - 1]) expect(() => opened(good.subarray(0, cut))).toThrow(RangeError)
    for (const at of [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]) expect(() => opened(good.with(at, 0x7f))).toThrow(RangeError)
  })
})
