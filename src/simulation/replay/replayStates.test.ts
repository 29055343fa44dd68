import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StateView } from '#evm/ports'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyState } from '#state/genesisState'
import { push, type StateStack, stackedState } from '#state/stateStack'
import { emptyTrieDiff } from '#test/harness/chain/emptyTrieDiff'
import { emptyCodeHash, emptyRoot, zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { ReplayStates } from './replayStates.ts'

const keyOf = (n: number): Uint8Array => keccak256(Uint8Array.of(n))
const accounts = [0, 1, 2]
const slots = [10, 11]

/** Effect of a step on an account: none, deletion, or new slots, with or without a wipe. */
const touch = fc.option(
  fc.oneof(
    fc.constant(null),
    fc.record({ nonce: fc.nat(9), wiped: fc.boolean(), values: fc.array(fc.nat(2), { minLength: 2, maxLength: 2 }) }),
  ),
  { nil: undefined },
)
const step = fc.tuple(touch, touch, touch)

function diffOf(touches: typeof step extends fc.Arbitrary<infer T> ? T : never): StateDiff {
  const found = touches.flatMap((what, n) => (what === undefined ? [] : [{ key: keyOf(n), what }]))
  return createStateDiff({
    accounts: found.map(({ key, what }) => ({
      key,
      wiped: what === null || what.wiped,
      change: what === null ? null : { nonce: BigInt(what.nonce), balance: 0n, codeHash: emptyCodeHash },
    })),
    slots: found.flatMap(({ key, what }) =>
      (what?.values ?? []).map((value, i) => ({
        addressKey: key,
        slotKey: keyOf(slots[i] ?? 0),
        value: new Uint8Array(32).fill(value, 31),
      })),
    ),
    codes: [],
  })
}

function read(view: StateView): unknown {
  return accounts.map((n) => {
    const account = view.account(keyOf(n))
    const values = slots.map((slot) => view.slot(keyOf(n), keyOf(slot))?.at(31) ?? 0)
    return { nonce: account?.nonce, values: account === undefined ? [] : values }
  })
}

/** Storage roots that show which accounts have slots. */
const rootsOf = (touches: readonly unknown[]): Map<string, typeof zeroHash> =>
  new Map(touches.flatMap((what, n) => (what ? [[toHex(keyOf(n)), zeroHash] as const] : [])))

/** A state view that throws on a repeated read. */
function readOnce(view: StateView): StateView {
  const asked = new Set<string>()
  const once = (...keys: readonly Uint8Array[]): void => {
    const name = keys.map(toHex).join()
    if (asked.has(name)) throw new RangeError(`${name} is read again`)
    asked.add(name)
  }
  return {
    ...view,
    account(key): ReturnType<StateView['account']> {
      once(key)
      return view.account(key)
    },
    slot(key, slot): ReturnType<StateView['slot']> {
      once(key, slot)
      return view.slot(key, slot)
    },
  }
}

it('simulation/replay/replayStates: returns the stacked state after any number of steps and reads each value below once', () => {
  fc.assert(
    fc.property(fc.tuple(step, fc.array(step, { maxLength: 8 })), ([first, steps]) => {
      const states = new ReplayStates()
      let stack: StateStack = push([], {
        ...{ diff: diffOf(first), result: { nodes: emptyTrieDiff, storageRoots: rootsOf(first) }, block: { number: 0, hash: emptyRoot } },
      })
      const below = readOnce(stackedState(emptyState, stack).view)
      const expected: unknown[] = [read(stackedState(emptyState, stack).view)]
      for (const [number, touches] of steps.entries()) {
        const diff = diffOf(touches)
        states.add(diff)
        stack = push(stack, {
          diff,
          result: { nodes: emptyTrieDiff, storageRoots: new Map() },
          block: { number: number + 1, hash: emptyRoot },
        })
        expected.push(read(stackedState(emptyState, stack).view))
      }
      const found = expected.map((_, count) => read(states.after(count, below)))
      expect(found).toEqual(expected)
      expect(expected.map((_, count) => read(states.after(count, below)))).toEqual(found)
    }),
    { numRuns: 60 },
  )
})

it('simulation/replay/replayStates: a reader that passes its reads on gets the same state, and adds nothing', () => {
  fc.assert(
    fc.property(step, fc.array(step, { minLength: 1, maxLength: 4 }), (first, steps) => {
      const below = new ReplayStates()
      below.add(diffOf(first))
      const states = new ReplayStates()
      for (const touches of steps) states.add(diffOf(touches))
      const view = below.after(1, emptyState.view)
      const passed = steps.map((_, count) => states.after(count, view, 'passed'))
      const found = passed.map(read)
      const before = states.sizeBytes
      for (let n = 0; n < 256; n++) for (const reader of passed) reader.account(keyOf(n))
      for (let n = 0; n < 256; n++) for (const reader of passed) reader.slot(keyOf(0), keyOf(n))
      expect(states.sizeBytes).toBe(before)
      expect(steps.map((_, count) => read(states.after(count, view)))).toEqual(found)
    }),
    { numRuns: 20 },
  )
})

it('simulation/replay/replayStates: returns an empty storage root only for an account without slots', () => {
  const states = new ReplayStates()
  states.add(diffOf([{ nonce: 1, wiped: false, values: [1, 0] }, undefined, undefined]))
  states.add(diffOf([{ nonce: 1, wiped: true, values: [] }, undefined, undefined]))
  const rootAfter = (count: number): unknown => states.after(count, emptyState.view).account(keyOf(0))?.storageRoot
  expect(rootAfter(1)).not.toBe(emptyRoot)
  expect(rootAfter(2)).toBe(emptyRoot)
})
