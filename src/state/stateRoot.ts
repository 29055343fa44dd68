import type { Account, StateView } from '#evm/ports'
import { compareBytes, emptyBytes, equalBytes, trimLeft } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { encodeRlp } from '#lib/rlp'
import type { NodeSource } from '#trie/ports'
import { type TrieChange, updateTrie } from '#trie/updateTrie'
import { emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { encodeAccount } from './account.ts'

/**
 * Trie nodes that a block puts or removes (`null`), leaves included; `owner` is undefined in the account trie. Nodes of a wiped account's
 * former storage are not listed: all of them go, before those listed come.
 */
export type TrieDiff = readonly { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly node: Uint8Array | null }[]

export type StateRoot = {
  readonly root: Hash
  readonly nodes: TrieDiff
  /**
   * hex of the address key → storage root after the block, for every account that the diff or its slots name and that is still there; left out where
   * the diff has the account and there is no storage, nor was there any before
   */
  readonly storageRoots: ReadonlyMap<string, Hash>
}

type TouchedAccount = {
  readonly key: Uint8Array
  /** undefined: only its slots changed */
  readonly change: AccountChange | null | undefined
  readonly wiped: boolean
  readonly slots: readonly TrieChange[]
}

/** Leaf of a slot's value in a storage trie; null for zero. */
function slotLeaf(value: Uint8Array): Uint8Array | null {
  const scalar = trimLeft(value)
  return scalar.length === 0 ? null : encodeRlp(scalar)
}

/** The accounts of the diff and those that only have slots in it, ascending by key. */
function* touchedAccounts(diff: StateDiff): Generator<TouchedAccount> {
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
 * The state root after a diff, with every trie node that changes on the way.
 * @param nodes of the state that `parentRoot` names
 * @param view the same state
 * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the diff has slots of an account that is neither in it nor in the state
 */
export function computeStateRoot(nodes: NodeSource, parentRoot: Hash, view: StateView, diff: StateDiff): StateRoot {
  const changed: { owner: Uint8Array | undefined; path: Uint8Array; node: Uint8Array | null }[] = []
  const storageRoots = new Map<string, Hash>()
  const accounts: TrieChange[] = []
  for (const touched of touchedAccounts(diff)) {
    const { key, change, wiped, slots } = touched
    if (change === null) {
      accounts.push({ key, value: null })
      continue
    }
    const before = wiped && change ? undefined : view.account(key)
    const storage = updateTrie(nodes, key, wiped ? emptyRoot : (before?.storageRoot ?? emptyRoot), slots)
    for (const node of storage.changes) changed.push({ owner: key, ...node })
    const isPlain = change !== undefined && storage.root === emptyRoot && (before?.storageRoot ?? emptyRoot) === emptyRoot
    if (!isPlain) storageRoots.set(toHex(key), storage.root)
    accounts.push({ key, value: encodeAccount({ ...accountAfter(touched, before), storageRoot: storage.root }) })
  }
  const { root, changes } = updateTrie(nodes, undefined, parentRoot, accounts)
  for (const node of changes) changed.push({ owner: undefined, ...node })
  return { root, nodes: changed, storageRoots }
}

/**
 * The storage root of one account after a diff. @param nodes of the state before it @param view the same state
 * @throws Fault MISSING_NODE, BAD_NODE
 */
export function computeStorageRoot(nodes: NodeSource, view: StateView, diff: StateDiff, addressKey: Uint8Array): Hash {
  const before = diff.isWiped(addressKey) ? emptyRoot : (view.account(addressKey)?.storageRoot ?? emptyRoot)
  const slots: TrieChange[] = []
  for (const slot of diff.slots()) {
    if (equalBytes(slot.addressKey, addressKey)) slots.push({ key: slot.slotKey, value: slotLeaf(slot.value) })
  }
  return updateTrie(nodes, addressKey, before, slots).root
}

function accountAfter({ key, change }: TouchedAccount, before: Account | undefined): AccountChange {
  const after = change ?? before
  if (after === undefined) throw new RangeError(`state diff: slots of ${toHex(key)}, an account that does not exist`)
  return after
}

/** The empty state's root and nodes: where a genesis begins. */
export const noNodes: NodeSource = { get: () => undefined }
export const noState: StateView = { account: () => undefined, slot: () => undefined, code: () => emptyBytes, blockHash: () => undefined }
