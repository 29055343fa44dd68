// The value of an account's leaf after a diff, for which the account's storage trie is updated first. @see yellow paper, 4.1
import { take } from './arena'
import { changeBytes, changes, keyNibbles, kind, ofSlots, owner, setChanges, setValue } from './changes'
import { badNode, failAt, noAccount } from './host'
import { count, emitRoot, endStorage, first, last, restore } from './output'
import { headFrom, headIsList, headTo, readHead, stringSize, withHead, writeHead, writeString } from './rlp'
import { emptyRoot, updateTrie } from './update'

/** Rows of a diff, in the layout of `src/types/stateDiffLayout.ts`. */
const rowFlags: usize = 32
const rowNonce: usize = 40
const rowBalance: usize = 48
const rowCodeHash: usize = 80
const goneFlag: u32 = 1
const wipedFlag: u32 = 2
export const accountRowBytes: u32 = 112
export const slotRowBytes: u32 = 128
const slotKey: usize = 32
const slotWord: usize = 64
const slotBefore: usize = 96

/** Returns the address of the storage root in an account's value; 0: it is not an account. */
function rootIn(value: usize, size: u32): usize {
  const end = value + size
  if (!readHead(value, end) || !headIsList || headTo != end) return 0
  let at = headFrom
  if (!isScalar(at, end, 8)) return 0
  at = headTo
  if (!isScalar(at, end, 32)) return 0
  at = headTo
  if (!readHead(at, end) || headIsList || headTo - headFrom != 32) return 0
  const root = headFrom
  at = headTo
  return readHead(at, end) && !headIsList && headTo - headFrom == 32 && headTo == end ? root : 0
}

function isScalar(at: usize, end: usize, bytes: u32): bool {
  if (!readHead(at, end) || headIsList || headTo - headFrom > bytes) return false
  return headTo == headFrom || load<u8>(headFrom) != 0
}

/** Determines the value of an account's leaf. @param change as `changes.ts` describes */
export function accountValue(change: usize, before: usize, beforeSize: u32, leaf: usize, leafSize: u32): void {
  const key = usize(load<u32>(change))
  const row = usize(load<u32>(change, 4))
  const flags = row == 0 ? 0 : u32(load<u8>(row, rowFlags))
  if ((flags & goneFlag) != 0) {
    setValue(0, 0)
    return
  }
  const isWiped = (flags & wipedFlag) != 0
  let root = emptyRoot
  if (before != 0 && !isWiped) {
    root = rootIn(before, beforeSize)
    if (root == 0) failAt(badNode, key, keyNibbles, leaf, leafSize)
  }
  if (row == 0 && before == 0) failAt(noAccount, key, keyNibbles, key, 32)
  const rootBefore = root
  const slots = usize(load<u32>(change, 8))
  const end = usize(load<u32>(change, 12))
  if (slots != end) root = storageRoot(key, root, slots, end)
  const isPlain = row != 0 && isEmpty(root) && isEmpty(rootBefore)
  if (!isPlain) emitRoot(key, root)
  if (row == 0) withRoot(before, beforeSize, rootBefore, root)
  else encode(row, root)
}

function isEmpty(root: usize): bool {
  return root == emptyRoot || memory.compare(root, emptyRoot, 32) == 0
}

/** Updates the storage trie of an account within the update of the account trie. Returns the address of its new root. */
function storageRoot(key: usize, root: usize, slots: usize, end: usize): usize {
  const upper = changes
  const upperKind = kind
  const upperOwner = owner
  const nibbles = keyNibbles
  const upperFirst = first
  const upperLast = last
  const upperCount = count
  const total = u32(end - slots) / slotRowBytes
  const own = take(total * changeBytes)
  for (let i: u32 = 0, at = own; i < total; i++, at += changeBytes, slots += slotRowBytes) {
    store<u32>(at, u32(slots + slotKey))
    store<u32>(at, u32(slots + slotWord), 4)
    store<u32>(at, u32(slots + slotBefore), 8)
  }
  setChanges(own, ofSlots, key, nibbles)
  restore(0, 0, 0)
  const after = updateTrie(root, total)
  endStorage(key)
  setChanges(upper, upperKind, upperOwner, nibbles)
  restore(upperFirst, upperLast, upperCount)
  return after
}

/** Encodes the account of a row. */
function encode(row: usize, root: usize): void {
  const nonce = take(8)
  store<u64>(nonce, bswap<u64>(load<u64>(row, rowNonce)))
  const nonceSkip = min(u32(clz<u64>(load<u64>(row, rowNonce)) >> 3), 8)
  let balanceSkip: u32 = 0
  while (balanceSkip < 32 && load<u8>(row + balanceSkip, rowBalance) == 0) balanceSkip++
  const balance = row + rowBalance + balanceSkip
  const content = stringSize(nonce + nonceSkip, 8 - nonceSkip) + stringSize(balance, 32 - balanceSkip) + 66
  const size = withHead(content)
  const value = take(size)
  let to = writeHead(value, content, 0xc0)
  to = writeString(to, nonce + nonceSkip, 8 - nonceSkip)
  to = writeString(to, balance, 32 - balanceSkip)
  to = writeString(to, root, 32)
  writeString(to, row + rowCodeHash, 32)
  setValue(value, size)
}

/** Replaces the storage root in the value of an account. @param rootBefore its address in the value before */
function withRoot(before: usize, size: u32, rootBefore: usize, root: usize): void {
  const value = take(size)
  memory.copy(value, before, size)
  memory.copy(value + (rootBefore - before), root, 32)
  setValue(value, size)
}
