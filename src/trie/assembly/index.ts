// tries.wasm: updates of tries. Addresses are valid until the next `begin`.
import { beginCall, open as openCache, take } from './arena'
import { accountRowBytes, slotRowBytes } from './accounts'
import { changeBytes, ofAccounts, ofValues, setChanges } from './changes'
import { beginStack } from './drafts'
import { beginHost } from './host'
import { beginOutput } from './output'
import { setTrust, stackBytes, updateTrie } from './update'

export { hits, reads, workBytes } from './arena'
export { landing, landingBytes } from './host'
export { keepPacked, pack, packedBytes, packRoots, rootCount } from './output'

/** Called once. @param cacheBytes size of the cache of nodes */
export function open(cacheBytes: u32): void {
  openCache(cacheBytes)
}

/** Begins a call and returns the address of its input. */
export function begin(inputBytes: u32): usize {
  beginCall()
  beginHost()
  beginOutput()
  beginStack(stackBytes)
  return take(inputBytes)
}

/**
 * Updates one trie and returns the address of its new root.
 * @param changes of kind `ofValues`, ascending by key
 * @param owner 0: the account trie
 */
export function update(root: usize, owner: usize, changes: usize, count: u32, keyNibbles: u32): usize {
  setTrust(false)
  setChanges(changes, ofValues, owner, keyNibbles)
  return updateTrie(root, count)
}

/**
 * Updates the account trie and the storage tries of a diff; returns the address of the new state root. Rows ascend by key.
 * @param trust whether nodes of the source are taken without a check of their hash
 */
export function updateState(root: usize, accounts: usize, accountRows: u32, slots: usize, slotRows: u32, trust: bool): usize {
  setTrust(trust)
  const accountsEnd = accounts + accountRows * accountRowBytes
  const slotsEnd = slots + slotRows * slotRowBytes
  const changes = take((accountRows + slotRows) * changeBytes)
  let count: u32 = 0
  while (accounts < accountsEnd || slots < slotsEnd) {
    const isNamed = accounts < accountsEnd && (slots >= slotsEnd || memory.compare(accounts, slots, 32) <= 0)
    const key = isNamed ? accounts : slots
    const change = changes + count++ * changeBytes
    store<u32>(change, u32(key))
    store<u32>(change, isNamed ? u32(accounts) : 0, 4)
    store<u32>(change, u32(slots), 8)
    while (slots < slotsEnd && memory.compare(slots, key, 32) == 0) slots += slotRowBytes
    store<u32>(change, u32(slots), 12)
    if (isNamed) accounts += accountRowBytes
  }
  setChanges(changes, ofAccounts, 0, 64)
  return count == 0 ? root : updateTrie(root, count)
}
