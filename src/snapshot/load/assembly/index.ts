// state.wasm: rows and root of a state from its sorted accounts and slots. The host is `src/snapshot/load/stateBuilder.ts`.
import { withHead, writeHead } from 'trie/assembly/rlp'
import { clearRows, endRow, filled, isFull, nextKey, rowBytes, rows } from './output'
import {
  add, branchBytes, branchesAt, childBytes, commonNibbles, end, hasEntry, keyAt, keyOf, seal, setRows, setValueSize, valueAt, valueOf
} from './trie'

export { clearRows, filled, rowBytes, rows, branchBytes, branchesAt, childBytes, keyAt, valueAt }

/** Returns whether the code with a hash is known. */
@external('host', 'hasCode')
declare function hasCode(hash: usize): bool
/** Receives the root of the slots that are in chunks of their own, which is not verified. */
@external('host', 'storageRoot')
declare function storageRoot(key: usize, root: usize): void

export const accountTrie: usize = memory.data(192 + 64 * (8 + 16 * 40), 16)
export const slotTrie: usize = memory.data(192 + 64 * (8 + 16 * 40), 16)

/** The last account: key, hash of its code, nonce and balance, each as its length and up to 32 bytes without leading zeros. */
export const openKey: usize = memory.data(32, 16)
export const openCode: usize = memory.data(32, 16)
export const openNonce: usize = memory.data(40, 8)
export const openBalance: usize = memory.data(40, 8)
export let hasOpen: bool = false
/** Whether the last account is ended, whether it has slots, and whether `root` is the root of slots that are not added. */
export let isEnded: bool = true
export let hasSlots: bool = false
export let hasPreset: bool = false
/** A root: of the last ended account's storage, or of the state. */
export const root: usize = memory.data(32, 16)

/** Bytes of a chunk, or a key with a value. */
export const input: usize = memory.data(262_144, 16)
export const inputBytes: u32 = 262_144
/** Bytes of `input` that the last call has used. */
export let used: u32 = 0
/** The nibbles with which all keys must begin. */
export const prefix: usize = memory.data(32, 8)
let prefixNibbles: u32 = 0

export let accounts: f64 = 0
export let slots: f64 = 0
/** Bytes of keys and values of both. */
export let bytes: f64 = 0

/** Results of the functions that add entries. */
const done: u32 = 0
/** More input is needed, or the rows must be read first. */
const paused: u32 = 1
/** The account's slots are in chunks of their own. */
const slotChunks: u32 = 2
const unsorted: u32 = 3
const badFlags: u32 = 4
const badInteger: u32 = 5
const outside: u32 = 6
const badValue: u32 = 7
const unknownCode: u32 = 8

let accountsTable: u32 = 0
let storageTable: u32 = 0
/** Whether accounts with slots in chunks get the root that the chunk has. */
let takesRoots: bool = false

const noCode: usize = memory.data<u8>([
  0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0,
  0xe5, 0x00, 0xb6, 0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70,
])
const emptyRoot: usize = memory.data<u8>([
  0x56, 0xe8, 0x1f, 0x17, 0x1b, 0xcc, 0x55, 0xa6, 0xff, 0x83, 0x45, 0xe6, 0x92, 0xc0, 0xf8, 0x6e,
  0x5b, 0x48, 0xe0, 0x1b, 0x99, 0x6c, 0xad, 0xc0, 0x01, 0x62, 0x2f, 0xb5, 0xe3, 0x63, 0xb4, 0x21,
])

/**
 * Called once. Tables of number 0 get no rows.
 * @param nodeDepth most nibbles of the path of a node that gets a row
 */
export function open(accountRows: u32, storageRows: u32, accountNodes: u32, storageNodes: u32, nodeDepth: u32, roots: bool): void {
  accountsTable = accountRows
  storageTable = storageRows
  takesRoots = roots
  setRows(accountTrie, accountNodes, nodeDepth, 0)
  setRows(slotTrie, storageNodes, nodeDepth, openKey)
}

/** @param count nibbles of `prefix` */
export function setPrefix(count: u32): void {
  prefixNibbles = count
}

/** Writes a scalar as an item; returns the address after it. */
function writeScalar(to: usize, scalar: usize): usize {
  const size = u32(load<u8>(scalar))
  if (size != 1 || load<u8>(scalar, 1) >= 0x80) store<u8>(to++, 0x80 + size)
  memory.copy(to, scalar + 1, size)
  return to + size
}

function writeHash(to: usize, hash: usize): usize {
  store<u8>(to, 0xa0)
  memory.copy(to + 1, hash, 32)
  return to + 33
}

const fields: usize = memory.data(160, 8)

/** Writes a list of `fields`, which end at `last`, and returns its size. */
function writeFields(to: usize, last: usize): u32 {
  const size = u32(last - fields)
  memory.copy(writeHead(to, size, 0xc0), fields, size)
  return withHead(size)
}

function isSame(a: usize, b: usize): bool {
  return memory.compare(a, b, 32) == 0
}

/** Ends the last account: false when there is none, or it is ended. @returns whether `root` is the root of its storage */
export function endAccount(): bool {
  if (!hasOpen || isEnded) return false
  if (hasSlots) end(slotTrie, root)
  else if (!hasPreset) memory.copy(root, emptyRoot, 32)
  const scalarsEnd = writeScalar(writeScalar(fields, openNonce), openBalance)
  let to = scalarsEnd
  if (isSame(root, emptyRoot)) store<u8>(to++, 0x80)
  else to = writeHash(to, root)
  if (isSame(openCode, noCode)) store<u8>(to++, 0x80)
  else to = writeHash(to, openCode)
  const size = withHead(u32(to - fields))
  if (accountsTable != 0) {
    const key = nextKey()
    memory.copy(key, openKey, 32)
    writeFields(key + 32, to)
    endRow(accountsTable, 32, size)
  }
  // its key is above that of the last account
  add(accountTrie, openKey)
  setValueSize(accountTrie, writeFields(valueOf(accountTrie), writeHash(writeHash(scalarsEnd, root), openCode)))
  isEnded = true
  hasPreset = false
  accounts += 1
  bytes += f64(32 + size)
  return true
}

/** Begins an account, whose code and scalars the caller writes next. */
export function beginAccount(key: usize): u32 {
  if (hasOpen && memory.compare(key, openKey, 32) <= 0) return unsorted
  endAccount()
  // an account in a part that is sealed
  if (hasEntry(accountTrie) && !isAbove(key)) return unsorted
  memory.copy(openKey, key, 32)
  hasOpen = true
  isEnded = false
  hasSlots = false
  return done
}

/** Returns whether the account trie, if it is sealed, is sealed below a key. */
function isAbove(key: usize): bool {
  return load<u32>(accountTrie, 4) != 0 || commonNibbles(keyOf(accountTrie), key) < load<u32>(accountTrie, 8)
}

/** Gives the open account the root in `root` without its slots. */
export function presetRoot(): void {
  hasPreset = true
}

/** Adds a slot of the open account. */
export function addSlot(key: usize, value: usize, size: u32): u32 {
  if (!hasOpen || isEnded) return unsorted
  if (size == 0 || size > 32 || load<u8>(value) == 0) return badValue
  if (!add(slotTrie, key)) return unsorted
  const to = valueOf(slotTrie)
  if (size == 1 && load<u8>(value) < 0x80) {
    store<u8>(to, load<u8>(value))
    setValueSize(slotTrie, 1)
  } else {
    store<u8>(to, 0x80 + size)
    memory.copy(to + 1, value, size)
    setValueSize(slotTrie, size + 1)
  }
  if (storageTable != 0) {
    const row = nextKey()
    memory.copy(row, openKey, 32)
    memory.copy(row + 32, key, 32)
    memory.copy(row + 64, value, size)
    endRow(storageTable, 64, size)
  }
  hasSlots = true
  slots += 1
  bytes += f64(64 + size)
  return done
}

export function sealAccounts(depth: u32): usize {
  return seal(accountTrie, depth)
}

export function sealSlots(depth: u32): usize {
  return seal(slotTrie, depth)
}

/** Ends the account trie: `root` is the root of the state. */
export function endState(): void {
  endAccount()
  if (hasEntry(accountTrie)) end(accountTrie, root)
  else memory.copy(root, emptyRoot, 32)
  hasOpen = false
}

/** Sets what is not in memory, for a host that continues an earlier state. */
export function restore(open: bool, ended: bool, slotted: bool, accountCount: f64, slotCount: f64, byteCount: f64): void {
  hasOpen = open
  isEnded = ended
  hasSlots = slotted
  accounts = accountCount
  slots = slotCount
  bytes = byteCount
}

/** Slots of the last account that follow in the chunk. */
export let slotsLeft: u32 = 0

const withCode: u32 = 1
const withSlotChunks: u32 = 2
const withSlots: u32 = 4

/** Address after the scalar that `scalarIn` has read. */
let scalarEnd: usize = 0

/** Returns `done` when a scalar of at most `most` bytes is complete. */
function scalarIn(at: usize, last: usize, most: u32): u32 {
  if (at >= last) return paused
  const size = u32(load<u8>(at))
  if (size > most) return badInteger
  scalarEnd = at + 1 + size
  if (scalarEnd > last) return paused
  return size > 0 && load<u8>(at, 1) == 0 ? badInteger : done
}

/** Direct-mapped, by the first bytes of a hash: hashes of codes that the host knows. */
const knownCodes: usize = memory.data(4_096 * 32, 16)

function isKnown(hash: usize): bool {
  const slot = knownCodes + (usize(load<u16>(hash)) & 4_095) * 32
  if (isSame(slot, hash)) return true
  if (!hasCode(hash)) return false
  memory.copy(slot, hash, 32)
  return true
}

// @ts-ignore: decorator
@inline
function isOutside(key: usize): bool {
  return prefixNibbles != 0 && commonNibbles(prefix, key) < prefixNibbles
}

/** Adds the account at an address. `used` is the offset after it when the result is `done` or `slotChunks`. */
function accountIn(key: usize, last: usize): u32 {
  if (key + 33 > last) return paused
  const flags = u32(load<u8>(key, 32))
  if (flags > 7 || (flags & (withSlotChunks | withSlots)) == (withSlotChunks | withSlots)) return badFlags
  const nonce = key + 33
  const nonceResult = scalarIn(nonce, last, 8)
  if (nonceResult != done) return nonceResult
  const balance = scalarEnd
  const balanceResult = scalarIn(balance, last, 32)
  if (balanceResult != done) return balanceResult
  const code = scalarEnd
  const given = code + ((flags & withCode) != 0 ? 32 : 0)
  const rest = given + ((flags & withSlotChunks) != 0 ? 32 : (flags & withSlots) != 0 ? 4 : 0)
  if (rest > last) return paused
  if (isOutside(key)) return outside
  if ((flags & withCode) != 0 && !isKnown(code)) return unknownCode
  const begun = beginAccount(key)
  if (begun != done) return begun
  memory.copy(openCode, (flags & withCode) != 0 ? code : noCode, 32)
  memory.copy(openNonce, nonce, 1 + u32(load<u8>(nonce)))
  memory.copy(openBalance, balance, 1 + u32(load<u8>(balance)))
  used = u32(rest - input)
  slotsLeft = (flags & withSlots) != 0 ? bswap<u32>(load<u32>(given)) : 0
  if ((flags & withSlotChunks) == 0) return done
  if (!takesRoots) return slotChunks
  memory.copy(root, given, 32)
  hasPreset = true
  storageRoot(key, given)
  return done
}

/** Adds the slot at an address. */
function slotIn(key: usize, last: usize): u32 {
  if (key + 33 > last) return paused
  const size = u32(load<u8>(key, 32))
  if (key + 33 + size > last) return paused
  if (isOutside(key)) return outside
  const result = addSlot(key, key + 33, size)
  if (result == done) used = u32(key + 33 + size - input)
  return result
}

/** Adds the accounts of a part of a chunk, with their slots. @param size bytes of `input` @returns why it ended; `used` bytes are added */
export function addAccounts(size: u32): u32 {
  const last = input + size
  used = 0
  for (let at = input; at < last; at = input + used) {
    if (isFull()) return paused
    let result: u32
    if (slotsLeft > 0) {
      // the prefix is one of accounts
      const count = prefixNibbles
      prefixNibbles = 0
      result = slotIn(at, last)
      prefixNibbles = count
      if (result == done) slotsLeft--
    } else result = accountIn(at, last)
    if (result != done) return result
  }
  return done
}

/** Adds the slots of a part of a chunk to the open account. @param size bytes of `input` @returns why it ended; `used` bytes are added */
export function addSlots(size: u32): u32 {
  const last = input + size
  used = 0
  for (let at = input; at < last; at = input + used) {
    if (isFull()) return paused
    const result = slotIn(at, last)
    if (result != done) return result
  }
  return done
}
