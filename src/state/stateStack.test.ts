import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyTrieDiff } from '#test/harness/chain/emptyTrieDiff'
import { accountKeys, anyBlock, key, type Model, play, slotKeys } from '#test/harness/chain/stateModel'
import { emptyCodeHash, emptyRoot, hashFromBytes } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { emptyState } from './genesisState.ts'
import { createLayer } from './stateLayer.ts'
import { push, type StateStack, stackedState, viewAbove } from './stateStack.ts'

/** All values of a view, as a model has them, and which accounts have an empty storage root. */
function valuesOf(view: StateView): unknown {
  return accountKeys.map((addressKey) => {
    const account = view.account(addressKey)
    if (account === undefined) return undefined
    const { nonce, balance, codeHash } = account
    const code = codeHash === emptyCodeHash ? undefined : hashFromBytes(keccak256(view.code(codeHash)))
    const slots = slotKeys.map((slotKey) => view.slot(addressKey, slotKey))
    const hasSlots = slots.some((value) => value !== undefined)
    return { nonce, balance, codeHash, code: code ?? emptyCodeHash, slots, isEmptyWithSlots: hasSlots && account.storageRoot === emptyRoot }
  })
}

function modelValues(model: Model): unknown {
  return accountKeys.map((addressKey) => {
    const account = model.get(toHex(addressKey))
    if (account === undefined) return undefined
    const { nonce, balance, codeHash, slots } = account
    const values = slotKeys.map((slotKey) => {
      const value = slots.get(toHex(slotKey)) ?? 0n
      return value === 0n ? undefined : bytesFromBigint(value, 32)
    })
    return { nonce, balance, codeHash, code: codeHash, slots: values, isEmptyWithSlots: false }
  })
}

const word = (n: number): Uint8Array => bytesFromBigint(BigInt(n), 32)
const plain = { nonce: 0n, balance: 1n, codeHash: emptyCodeHash }
const change = (n: number, of: typeof plain | null = plain, wiped = false) => ({ key: key(n), change: of, wiped })
const slot = (n: number, value: number) => ({ addressKey: key(n), slotKey: key(200), value: word(value) })
const diffOf = (accounts: ReturnType<typeof change>[], slots: ReturnType<typeof slot>[] = []) =>
  createStateDiff({ accounts, slots, codes: [] })

describe('state/stateStack without tries', () => {
  it('state/stateStack: has the values of a model after any number of steps, also above another stack', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 20 }), fc.nat(20), (blocks, split) => {
        let model: Model = new Map()
        let below: StateView = emptyState.view
        let stack: StateStack = []
        const seen: { readonly view: StateView; readonly model: Model }[] = []
        for (const [i, block] of blocks.entries()) {
          const { diff, after } = play(model, block)
          if (i === split) [below, stack] = [viewAbove(below, stack), []]
          stack = push(stack, { diff })
          model = after
          seen.push({ view: viewAbove(below, stack), model })
        }
        for (const { view, model: expected } of seen) expect(valuesOf(view)).toEqual(modelValues(expected))
      }),
      { numRuns: 60 },
    )
  })

  it('state/stateStack: an account without nonce and code has an empty storage root unless its last layers set a slot', () => {
    const root = (...diffs: ReturnType<typeof diffOf>[]): unknown =>
      viewAbove(
        emptyState.view,
        diffs.map((diff) => createLayer({ diff })),
      ).account(key(1))?.storageRoot
    expect(root(diffOf([change(1)]))).toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(1, 5)]))).not.toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(1, 0)]))).toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(2, 5)]))).toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(1, 5)]), diffOf([change(1)]))).not.toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(1, 5)]), diffOf([change(1, plain, true)]))).toBe(emptyRoot)
    expect(root(diffOf([change(1)], [slot(1, 5)]), diffOf([change(1, null, true)]), diffOf([change(1)]))).toBe(emptyRoot)
  })

  it('state/stateStack: an account that a layer has wiped has an empty storage root, also with a nonce', () => {
    const used = { ...plain, nonce: 1n }
    const view = viewAbove(emptyState.view, [
      createLayer({ diff: diffOf([change(1, used)], [slot(1, 5)]) }),
      createLayer({ diff: diffOf([change(1, used, true)]) }),
    ])
    expect(view.account(key(1))).toEqual({ ...used, storageRoot: emptyRoot })
  })

  it('state/stateStack: keeps exact storage roots below a layer that does not change the account', () => {
    const exact = hashFromBytes(key(9))
    const base: StateView = { ...emptyState.view, account: () => ({ ...plain, storageRoot: exact }) }
    expect(viewAbove(base, [createLayer({ diff: diffOf([change(2)]) })]).account(key(1))?.storageRoot).toBe(exact)
    const rooted = createLayer({
      diff: diffOf([change(1)]),
      result: { nodes: emptyTrieDiff, storageRoots: new Map([[toHex(key(1)), exact]]) },
    })
    const view = viewAbove(emptyState.view, [rooted, createLayer({ diff: diffOf([change(1)]) })])
    expect(view.account(key(1))?.storageRoot).toBe(exact)
  })

  it('state/stateStack: returns overridden block hashes, those of blocks, then those below', () => {
    const [h1, h2, h3] = [hashFromBytes(key(1)), hashFromBytes(key(2)), hashFromBytes(key(3))]
    const below: StateView = { ...emptyState.view, blockHash: (number) => (number < 9 ? h1 : undefined) }
    const view = viewAbove(below, [createLayer({ block: { number: 8, hash: h2 } }), createLayer({ hashes: new Map([[7, h3]]) })])
    expect([6, 7, 8, 9].map((number) => view.blockHash(number))).toEqual([h1, h3, h2, undefined])
  })

  it('state/stateStack: has no trie (RangeError), and is the state below when it is empty', () => {
    const { nodes } = stackedState(emptyState, [createLayer({})])
    expect(() => nodes.get(undefined, new Uint8Array(0), key(1))).toThrow(RangeError)
    expect(stackedState(emptyState, [])).toBe(emptyState)
    expect(viewAbove(emptyState.view, [])).toBe(emptyState.view)
  })
})
