import type { StateView } from '#evm/ports'
import { toHex } from '#lib/hex'
import { encodeAccount } from '#state/account'
import { touchedAccounts } from '#state/stateRoot'
import type { NodeSource } from '#trie/ports'
import type { TrieChange } from '#trie/tries'
import type { Account } from '#types/account'
import { emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { updateTrie } from './updateTrie.ts'

type OwnedChange = { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly node: Uint8Array | null }

type JudgedRoot = { readonly root: Hash; readonly nodes: readonly OwnedChange[]; readonly storageRoots: ReadonlyMap<string, Hash> }

/**
 * Computes the state root after a diff, with every changed trie node, the second implementation: it judges `src/trie/assembly`.
 * @param nodes of the state that `parentRoot` names
 * @param view of the same state
 * @throws Fault MISSING_NODE, BAD_NODE; RangeError when the diff has slots of an account that is in neither the diff nor the state
 */
export function computeStateRoot(nodes: NodeSource, parentRoot: Hash, view: StateView, diff: StateDiff): JudgedRoot {
  const changed: OwnedChange[] = []
  const storageRoots = new Map<string, Hash>()
  const accounts: TrieChange[] = []
  for (const { key, change, wiped, slots } of touchedAccounts(diff)) {
    if (change === null) {
      accounts.push({ key, value: null })
      continue
    }
    const before = wiped && change ? undefined : view.account(key)
    const storage = updateTrie(nodes, key, wiped ? emptyRoot : (before?.storageRoot ?? emptyRoot), slots)
    for (const node of storage.changes) changed.push({ owner: key, ...node })
    const isPlain = change !== undefined && storage.root === emptyRoot && (before?.storageRoot ?? emptyRoot) === emptyRoot
    if (!isPlain) storageRoots.set(toHex(key), storage.root)
    accounts.push({ key, value: encodeAccount({ ...accountAfter(change, before, key), storageRoot: storage.root }) })
  }
  const { root, changes } = updateTrie(nodes, undefined, parentRoot, accounts)
  for (const node of changes) changed.push({ owner: undefined, ...node })
  return { root, nodes: changed, storageRoots }
}

function accountAfter(change: AccountChange | null | undefined, before: Account | undefined, key: Uint8Array): AccountChange {
  const after = change ?? before
  if (after === undefined) throw new RangeError(`state diff: slots of ${toHex(key)}, an account that does not exist`)
  return after
}
