import fc from 'fast-check'
import { expect } from 'vitest'
import type { StateView } from '#evm/ports'
import { bytesFromBigint, compareBytes, trimLeft } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import { decodeAccount, encodeAccount } from '#state/account'
import type { WorldState } from '#state/worldState'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { createProof, verifyProof } from '#trie/proof'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'

/** Hashed key of a small number. */
export const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n))
export const accountKeys = Array.from({ length: 12 }, (_, i) => key(i))
export const slotKeys = Array.from({ length: 20 }, (_, i) => key(100 + i))
const slotNames = slotKeys.map(toHex)
const codeOf = (n: number): Uint8Array => Uint8Array.of(0x60, n)

type ModelAccount = { nonce: bigint; balance: bigint; codeHash: Hash; slots: ReadonlyMap<Hex, bigint> }
/** All accounts with all their slots; both maps use the hex of a key. */
export type Model = Map<Hex, ModelAccount>

/** Change of one account in a block. Numbers are indices of the keys above. */
export type Touch = {
  readonly account: number
  readonly kind: 'change' | 'remove' | 'wipe' | 'slots'
  readonly nonce: bigint
  readonly code: number
  readonly slots: readonly { readonly slot: number; readonly value: bigint }[]
}

const anySlots = fc.uniqueArray(
  fc.record({ slot: fc.nat(19), value: fc.oneof(fc.constant(0n), fc.bigInt(1n, 300n), fc.bigInt(0n, (1n << 256n) - 1n)) }),
  {
    selector: ({ slot }) => slot,
    maxLength: 12,
  },
)
const anyTouch: fc.Arbitrary<Touch> = fc.record({
  account: fc.nat(11),
  kind: fc.constantFrom('change', 'change', 'change', 'remove', 'wipe', 'slots'),
  nonce: fc.bigInt(0n, (1n << 64n) - 1n),
  code: fc.nat(3),
  slots: anySlots,
})
export const anyBlock = fc.uniqueArray(anyTouch, { selector: ({ account }) => account, maxLength: 8 })

/** Applies a block to a model. Returns its diff and the model after it. */
export function play(model: Model, block: readonly Touch[]): { diff: StateDiff; after: Model } {
  const after = new Map(model)
  const accounts: StateDiffParts['accounts'][number][] = []
  const slots: StateDiffParts['slots'][number][] = []
  const codes = new Map<Hash, Uint8Array>()
  for (const touch of block) {
    const addressKey = accountKeys[touch.account] ?? key(0)
    const name = toHex(addressKey)
    const before = after.get(name)
    if (touch.kind === 'remove') {
      if (before) accounts.push({ key: addressKey, change: null, wiped: true })
      after.delete(name)
      continue
    }
    if (touch.kind === 'slots' && !before) continue
    const wiped = touch.kind === 'wipe'
    const next: ModelAccount = { ...(before ?? { slots: new Map() }), ...changeOf(touch, before) }
    const nextSlots = new Map(wiped ? [] : next.slots)
    next.slots = nextSlots
    if (touch.kind !== 'slots') accounts.push({ key: addressKey, change: changeOf(touch, before), wiped })
    if (touch.kind !== 'slots' && next.codeHash !== emptyCodeHash) codes.set(next.codeHash, codeOf(touch.code))
    slots.push(...applySlots(addressKey, nextSlots, touch))
    after.set(name, next)
  }
  const parts = { accounts, slots, codes: touchedCodes(accounts, codes) }
  return { diff: createStateDiff(parts), after }
}

/** Sets the slots in a model. @returns the slots of the diff */
function applySlots(addressKey: Uint8Array, slots: Map<Hex, bigint>, touch: Touch): StateDiffParts['slots'] {
  return touch.slots.map(({ slot, value }) => {
    const slotKey = slotKeys[slot] ?? key(0)
    const before = slots.get(toHex(slotKey)) ?? 0n
    // unknown for a third of the slots, and wrong for a third
    const known = [{}, { before: bytesFromBigint(before, 32) }, { before: bytesFromBigint(before ^ 1n, 32) }][slot % 3]
    if (value === 0n) slots.delete(toHex(slotKey))
    else slots.set(toHex(slotKey), value)
    return { addressKey, slotKey, value: bytesFromBigint(value, 32), ...known }
  })
}

function changeOf(touch: Touch, before: ModelAccount | undefined): { nonce: bigint; balance: bigint; codeHash: Hash } {
  if (touch.kind === 'slots' && before) return { nonce: before.nonce, balance: before.balance, codeHash: before.codeHash }
  const codeHash = touch.code === 0 ? emptyCodeHash : hashFromBytes(keccak256(codeOf(touch.code)))
  return { nonce: touch.nonce, balance: touch.nonce * 3n, codeHash }
}

const touchedCodes = (accounts: StateDiffParts['accounts'], codes: ReadonlyMap<Hash, Uint8Array>): StateDiffParts['codes'] => {
  const used = new Set(accounts.map(({ change }) => change?.codeHash))
  return [...codes].filter(([hash]) => used.has(hash)).map(([hash, code]) => ({ hash, code }))
}

/** Diff from an empty state to a model. */
export function wholeOf(model: Model): StateDiff {
  const accounts = [...model].map(([name, { nonce, balance, codeHash }]) => ({
    key: fromHex(name),
    change: { nonce, balance, codeHash },
    wiped: false,
  }))
  const slots = [...model].flatMap(([name, account]) =>
    [...account.slots].map(([slot, value]) => ({ addressKey: fromHex(name), slotKey: fromHex(slot), value: bytesFromBigint(value, 32) })),
  )
  return createStateDiff({ accounts, slots, codes: [] })
}

const byKey = (a: { key: Uint8Array }, b: { key: Uint8Array }): number => compareBytes(a.key, b.key)

/** State root of a model, built from scratch. */
export function rootOf(model: Model): Hash {
  const leaves = [...model].map(([name, account]) => ({
    key: fromHex(name),
    value: encodeAccount({ ...account, storageRoot: storageRootOf(account) }),
  }))
  return buildTrie(leaves.sort(byKey)).root
}

/** Roots of the slots of models, which share the slots that a block does not change. */
const storageRoots = new WeakMap<ReadonlyMap<Hex, bigint>, Hash>()

function storageRootOf({ slots }: ModelAccount): Hash {
  const known = storageRoots.get(slots)
  if (known !== undefined) return known
  const leaves = [...slots].map(([name, value]) => ({ key: fromHex(name), value: encodeRlp(trimLeft(bytesFromBigint(value, 32))) }))
  const { root } = buildTrie(leaves.sort(byKey))
  storageRoots.set(slots, root)
  return root
}

/** Expects the values of a state to equal a model. */
export function expectValues(view: StateView, model: Model): void {
  for (const addressKey of accountKeys) {
    const known = model.get(toHex(addressKey))
    const account = view.account(addressKey)
    expect(account).toEqual(
      known && { nonce: known.nonce, balance: known.balance, codeHash: known.codeHash, storageRoot: storageRootOf(known) },
    )
    if (account && account.codeHash !== emptyCodeHash) expect(keccak256(view.code(account.codeHash))).toEqual(fromHex(account.codeHash))
    const found = slotKeys.map((slotKey) => view.slot(addressKey, slotKey)).map((value) => value && toHex(value))
    const expected = slotNames.map((name) => known?.slots.get(name)).map((value) => value && toHex(bytesFromBigint(value, 32)))
    expect(found).toEqual(expected)
  }
}

/** Expects a state to equal a model: all values, and for each key the proofs under the model's root. */
export function expectModel({ view, nodes }: WorldState, model: Model, root: Hash): void {
  expectValues(view, model)
  for (const addressKey of accountKeys) {
    const known = model.get(toHex(addressKey))
    const verdict = verifyProof(root, addressKey, createProof(nodes, undefined, root, addressKey))
    expect(verdict.kind).toBe(known ? 'present' : 'absent')
    if (verdict.kind === 'present') expect(decodeAccount(verdict.value)).toEqual(view.account(addressKey))
    const storageRoot = known ? storageRootOf(known) : emptyRoot
    const kinds = slotKeys.map((slotKey) => verifyProof(storageRoot, slotKey, createProof(nodes, addressKey, storageRoot, slotKey)).kind)
    expect(kinds).toEqual(slotNames.map((name) => (known?.slots.has(name) ? 'present' : 'absent')))
  }
}
