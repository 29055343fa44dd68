// Changes to apply, ascending by key. A change is four u32: the key, then by kind
//   values    address and size of the new value; size 0 removes the key
//   slots     addresses of the slot's value and its value before, words; the latter is a guess, zero when it is unknown
//   accounts  row of the account in the diff (0: only slots change), and the addresses of its first slot row and the end of its slot rows
import { take } from './arena'
import { writeString, stringSize } from './rlp'
import { accountValue } from './accounts'

export const ofValues: u32 = 0
export const ofSlots: u32 = 1
export const ofAccounts: u32 = 2

export const changeBytes: u32 = 16

/** The changes of the trie that is being updated, its owner (0: the account trie) and the number of nibbles of its keys. */
export let changes: usize = 0
export let kind: u32 = 0
export let owner: usize = 0
export let keyNibbles: u32 = 0

export function setChanges(at: usize, changeKind: u32, ownerKey: usize, nibbles: u32): void {
  changes = at
  kind = changeKind
  owner = ownerKey
  keyNibbles = nibbles
}

// @ts-ignore: decorator
@inline
export function keyOf(i: u32): usize {
  return load<u32>(changes + i * changeBytes)
}

/** The value that `readValue` returns. Size 0: the key is removed. */
export let valueAt: usize = 0
export let valueSize: u32 = 0

// @ts-ignore: decorator
@inline
export function setValue(at: usize, size: u32): void {
  valueAt = at
  valueSize = size
}

/** Determines the new value of a key. @param before value of its leaf before; 0: it has no leaf @param leaf, leafSize reference of that leaf, for messages */
export function readValue(i: u32, before: usize, beforeSize: u32, leaf: usize, leafSize: u32): void {
  const change = changes + i * changeBytes
  if (kind == ofSlots) slotValue(load<u32>(change, 4))
  else if (kind == ofAccounts) accountValue(change, before, beforeSize, leaf, leafSize)
  else setValue(load<u32>(change, 4), load<u32>(change, 8))
}

/** Sets `valueAt` and `valueSize` to the presumed value of a key before its change; size 0: it is unknown. */
export function presumeValue(i: u32): void {
  if (kind == ofSlots) slotValue(load<u32>(changes + i * changeBytes, 8))
  else setValue(0, 0)
}

/** Encodes a word as the value of a slot's leaf. */
function slotValue(word: usize): void {
  let skip: u32 = 0
  while (skip < 32 && load<u8>(word + skip) == 0) skip++
  if (skip == 32) {
    setValue(0, 0)
    return
  }
  const size = stringSize(word + skip, 32 - skip)
  const at = take(size)
  writeString(at, word + skip, 32 - skip)
  setValue(at, size)
}
