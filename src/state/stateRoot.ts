import type { StateView } from '#evm/ports'
import { compareBytes, emptyBytes, equalBytes, trimLeft } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { encodeRlp } from '#lib/rlp'
import type { NodeSource } from '#trie/ports'
import { type TrieChange, updateTrie } from '#trie/updateTrie'
import type { Account } from '#types/account'
import { emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { encodeAccount } from './account.ts'

/**
 * Trie nodes that a block stores or removes (`null`), leaves included; `owner` is undefined in the account trie. Nodes of a wiped account's old
 * storage are not listed: all of them are removed before the listed nodes are stored.
 */
export type TrieDiff = readonly { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly node: Uint8Array | null }[]

export type StateRoot = {
  readonly root: Hash
  readonly nodes: TrieDiff
  /**
   * Storage root after the block, by hex of the address key, for every existing account that the diff or its slots name. An account of the diff is
   * omitted when it has no storage before and after the block.
   */
  readonly storageRoots: ReadonlyMap<string, Hash>
}

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
 * @param view of the same state
 * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the diff has slots of an account that is in neither the diff nor the state
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
 * Computes the storage root of one account after a diff. @param nodes of the state before the diff @param view of the same state
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

/** Nodes of the empty state, the base of a genesis state. */
export const noNodes: NodeSource = { get: () => undefined }
export const noState: StateView = { account: () => undefined, slot: () => undefined, code: () => emptyBytes, blockHash: () => undefined }
