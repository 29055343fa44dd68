import type { StateView } from '#evm/ports'
import { compareBytes, emptyBytes, equalBytes, trimLeft } from '#lib/bytes'
import { encodeRlp } from '#lib/rlp'
import type { NodeSource } from '#trie/ports'
import { plainTries, type TrieChange, type Tries, type UpdatedState } from '#trie/tries'
import { emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { isLarge, type RootThreads, rootInParts } from './rootParts.ts'

type TouchedAccount = {
  readonly key: Uint8Array
  /** undefined: only slots changed. */
  readonly change: AccountChange | null | undefined
  readonly wiped: boolean
  readonly slots: readonly TrieChange[]
}

/** Encodes a slot's value as a leaf of a storage trie; returns null for zero. */
function slotLeaf(value: Uint8Array): Uint8Array | null {
  const scalar = trimLeft(value)
  return scalar.length === 0 ? null : encodeRlp(scalar)
}

/** Iterates over the accounts of the diff and the accounts with slots in it, ascending by key. */
export function* touchedAccounts(diff: StateDiff): Generator<TouchedAccount> {
  const slots = diff.slots()[Symbol.iterator]()
  let slot = slots.next()
  const slotsOf = (key: Uint8Array): TrieChange[] => {
    const own: TrieChange[] = []
    while (!slot.done && equalBytes(slot.value.addressKey, key)) {
      own.push({ key: slot.value.slotKey, value: slotLeaf(slot.value.value) })
      slot = slots.next()
    }
    return own
  }
  function* slotsOnlyUntil(key: Uint8Array | undefined): Generator<TouchedAccount> {
    while (!slot.done && (key === undefined || compareBytes(slot.value.addressKey, key) < 0)) {
      const owner = slot.value.addressKey
      yield { key: owner, change: undefined, wiped: false, slots: slotsOf(owner) }
    }
  }
  for (const { key, change, wiped } of diff.accounts()) {
    yield* slotsOnlyUntil(key)
    yield { key, change, wiped, slots: slotsOf(key) }
  }
  yield* slotsOnlyUntil(undefined)
}

/**
 * Computes the state root after a diff, with every changed trie node.
 * @param nodes of the state that `parentRoot` names
 * @param tries with a cache for a thread that computes root after root
 * @param expected as of `Tries.updateState`
 * @param threads compute parts of the root of a large diff. Absent: this thread computes it alone
 * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the diff has slots of an account that is in neither the diff nor the state
 */
export function computeStateRoot(
  nodes: NodeSource,
  parentRoot: Hash,
  diff: StateDiff,
  tries: Tries = plainTries(),
  expected?: Hash,
  threads?: RootThreads,
): UpdatedState {
  const joined =
    threads && isLarge(diff, tries.missShare, threads) ? rootInParts(threads, nodes, parentRoot, diff, tries, expected) : undefined
  if (joined === undefined) return tries.updateState(nodes, parentRoot, diff, expected)
  return expected === undefined || joined.root === expected ? joined : tries.updateState(nodes, parentRoot, diff)
}

/**
 * Computes the storage root of one account after a diff. @param nodes of the state before the diff @param view of the same state
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function computeStorageRoot(nodes: NodeSource, view: StateView, diff: StateDiff, addressKey: Uint8Array): Hash {
  const before = diff.isWiped(addressKey) ? emptyRoot : (view.account(addressKey)?.storageRoot ?? emptyRoot)
  const slots: TrieChange[] = []
  for (const slot of diff.slots()) {
    if (equalBytes(slot.addressKey, addressKey)) slots.push({ key: slot.slotKey, value: slotLeaf(slot.value) })
  }
  return plainTries().update(nodes, addressKey, before, slots).root
}

/** Values of the empty state. */
export const noState: StateView = { account: () => undefined, slot: () => undefined, code: () => emptyBytes, blockHash: () => undefined }
