// Accounts: dense entries, found by an open-addressing index of pointers. An entry is created when an address is first used; the host loads it
// on demand. Fields named `…In` hold transaction numbers.
import { keccak256 } from '../keccak'
import {
  accountAddress,
  accountBalance,
  accountBytes,
  accountCode,
  accountCodeHash,
  accountCreatedIn,
  accountDestroyedIn,
  accountDirtyFlag,
  accountExistsFlag,
  accountFlags,
  accountIndexBase,
  accountIndexMaxBytes,
  accountKey,
  accountLoadedFlag,
  accountNextDirty,
  accountNonce,
  accountNumber,
  accountSlots,
  accountStorageFlag,
  accountTouchedIn,
  accountWarmIn,
  accountWipedFlag,
  accountsBase,
  accountsEnd,
  ctxAccountsTop,
  ctxTransaction,
  slotAccount,
  slotNext,
} from '../layout'
import { addressHash } from './hash'
import { isAlwaysWarm } from './special'
import {
  save,
  saveNumber,
  saveWord,
  undoBalance,
  undoCodeHash,
  undoCreated,
  undoDestroyed,
  undoExists,
  undoNonce,
  undoTouched,
  undoWarmAccount,
} from './undo'
import { addTo, copyWord, isZero, subFrom } from '../word/word'
import { below } from '../word/compare'

const firstBits: u32 = 10
const maxBits: u32 = 20

let bits: u32 = firstBits
let count: u32 = 0
let highest: usize = accountsBase
/** The account changed last. */
let lastDirty: usize = 0

/** Value that keeps an account warm in every transaction. */
const alwaysWarm: u32 = 0xffffffff

/** Keccak of the empty byte string, as four u64 in memory order. */
const empty0: u64 = 0x3c23f7860146d2c5
const empty1: u64 = 0xc003c7dcb27d7e92
const empty2: u64 = 0x3b2782ca53b600e5
const empty3: u64 = 0x70a4855d04d8fa7b

const addressOrdered = memory.data(32)

// @ts-ignore: decorator
@inline
function cellOf(place: u32): usize {
  return <usize>accountIndexBase + (<usize>place << 2)
}

/** Forgets all accounts. Cost is proportional to the size of the index. */
export function clearAccounts(): void {
  if (bits > maxBits || (4 << bits) > accountIndexMaxBytes) unreachable()
  memory.fill(accountIndexBase, 0, <usize>4 << bits)
  highest = max(highest, <usize>load<u32>(ctxAccountsTop))
  bits = firstBits
  count = 0
  lastDirty = 0
  store<u32>(ctxAccountsTop, accountsBase)
}

export function accountsHighest(): usize {
  return max(highest, <usize>load<u32>(ctxAccountsTop))
}

/** Doubles the index and reinserts all entries. */
function grow(): void {
  if (bits === maxBits) return
  bits++
  memory.fill(accountIndexBase, 0, <usize>4 << bits)
  const mask = (<u32>1 << bits) - 1
  const top = <usize>load<u32>(ctxAccountsTop)
  for (let a: usize = accountsBase; a < top; a += accountBytes) {
    const hash = addressHash(load<u64>(a, accountAddress), load<u64>(a, accountAddress + 8), load<u32>(a, accountAddress + 16))
    let place = <u32>(hash >>> (64 - bits))
    while (load<u32>(cellOf(place)) !== 0) place = (place + 1) & mask
    store<u32>(cellOf(place), <u32>a)
  }
}

/** Returns the index cell that holds the account, or the free cell for it. */
// @ts-ignore: decorator
@inline
function find(low: u64, middle: u64, high: u32): usize {
  const place = <u32>(addressHash(low, middle, high) >>> (64 - bits))
  const cell = cellOf(place)
  return isPlaceOf(cell, low, middle, high) ? cell : findAfter(place, low, middle, high)
}

// @ts-ignore: decorator
@inline
function isPlaceOf(cell: usize, low: u64, middle: u64, high: u32): bool {
  const a = <usize>load<u32>(cell)
  return (
    a === 0 ||
    (load<u64>(a, accountAddress) === low && load<u64>(a, accountAddress + 8) === middle && load<u32>(a, accountAddress + 16) === high)
  )
}

function findAfter(place: u32, low: u64, middle: u64, high: u32): usize {
  const mask = (<u32>1 << bits) - 1
  let cell: usize
  do {
    place = (place + 1) & mask
    cell = cellOf(place)
  } while (!isPlaceOf(cell, low, middle, high))
  return cell
}

function hashAddress(a: usize, low: u64, middle: u64, high: u32): void {
  store<u32>(addressOrdered, bswap(high))
  store<u64>(addressOrdered, bswap(middle), 4)
  store<u64>(addressOrdered, bswap(low), 12)
  keccak256(addressOrdered, 20, a + accountKey)
}

/** Creates an entry that is not loaded. */
function make(cell: usize, low: u64, middle: u64, high: u32): usize {
  // at most half full, until the index reaches its maximum, which has room for all entries
  if (++count > <u32>1 << (bits - 1)) {
    grow()
    cell = find(low, middle, high)
  }
  const a = <usize>load<u32>(ctxAccountsTop)
  if (a + accountBytes > <usize>accountsEnd) unreachable()
  store<u32>(ctxAccountsTop, <u32>(a + accountBytes))
  const none = i64x2.splat(0)
  for (let at: usize = 0; at < <usize>accountBytes; at += 16) v128.store(a + at, none)
  store<u64>(a, low, accountAddress)
  store<u64>(a, middle, accountAddress + 8)
  store<u32>(a, high, accountAddress + 16)
  store<u32>(a, count - 1, accountNumber)
  if (isAlwaysWarm(low, middle, high)) store<u32>(a, alwaysWarm, accountWarmIn)
  hashAddress(a, low, middle, high)
  store<u32>(cell, <u32>a)
  return a
}

/** Returns the entry of the account in the low 160 bits of a word, creating it if necessary. */
export function accountOf(word: usize): usize {
  const low = load<u64>(word)
  const middle = load<u64>(word, 8)
  const high = load<u32>(word, 16)
  const cell = find(low, middle, high)
  const a = <usize>load<u32>(cell)
  return a !== 0 ? a : make(cell, low, middle, high)
}

/** Returns the account's entry like `accountOf`, from 20 bytes in order. */
export function accountAt(bytes: usize): usize {
  const high = bswap(load<u32>(bytes))
  const middle = bswap(load<u64>(bytes, 4))
  const low = bswap(load<u64>(bytes, 12))
  const cell = find(low, middle, high)
  const a = <usize>load<u32>(cell)
  return a !== 0 ? a : make(cell, low, middle, high)
}

/**
 * Returns the account of a word when it is warm, precompiles included; otherwise 0. Callers use this before charging and `accountOf` after it: an
 * access that is not paid for must not create an entry, or cheap frames that run out of gas would fill the region.
 */
export function warmAccountOf(word: usize): usize {
  const low = load<u64>(word)
  const middle = load<u64>(word, 8)
  const high = load<u32>(word, 16)
  const cell = find(low, middle, high)
  const a = <usize>load<u32>(cell)
  if (a !== 0) return isWarm(a) ? a : 0
  return isAlwaysWarm(low, middle, high) ? make(cell, low, middle, high) : 0
}

// @ts-ignore: decorator
@inline
export function isWarm(a: usize): bool {
  return load<u32>(a, accountWarmIn) >= load<u32>(ctxTransaction)
}

/** Warms an account until the transaction ends or the checkpoint is reverted (EIP-2929). */
export function warm(a: usize): void {
  if (isWarm(a)) return
  save(undoWarmAccount, a)
  store<u32>(a, load<u32>(ctxTransaction), accountWarmIn)
}

// @ts-ignore: decorator
@inline
export function isLoaded(a: usize): bool {
  return (load<u32>(a, accountFlags) & accountLoadedFlag) !== 0
}

// @ts-ignore: decorator
@inline
export function exists(a: usize): bool {
  return (load<u32>(a, accountFlags) & accountExistsFlag) !== 0
}

// @ts-ignore: decorator
@inline
export function hasNoCode(a: usize): bool {
  return (
    load<u64>(a, accountCodeHash) === empty0 &&
    load<u64>(a, accountCodeHash + 8) === empty1 &&
    load<u64>(a, accountCodeHash + 16) === empty2 &&
    load<u64>(a, accountCodeHash + 24) === empty3
  )
}

/** Returns whether nonce, balance and code are empty (EIP-161). */
export function isEmpty(a: usize): bool {
  return load<u64>(a, accountNonce) === 0 && isZero(a + accountBalance) && hasNoCode(a)
}

/** Touches an account: an account that is touched and empty is removed at the end of the transaction (EIP-161). */
export function touch(a: usize): void {
  const transaction = load<u32>(ctxTransaction)
  if (load<u32>(a, accountTouchedIn) === transaction) return
  store<u32>(a, transaction, accountTouchedIn)
  save(undoTouched, a)
}

/** Updates flags and records after any change of an account. */
function changed(a: usize): void {
  const flags = load<u32>(a, accountFlags)
  if ((flags & accountExistsFlag) === 0) save(undoExists, a)
  if ((flags & accountDirtyFlag) === 0) link(a)
  store<u32>(a, flags | accountExistsFlag | accountDirtyFlag, accountFlags)
  touch(a)
}

/** Adds an account to the list of changed accounts. */
function link(a: usize): void {
  store<u32>(a, <u32>lastDirty, accountNextDirty)
  lastDirty = a
}

/** Sets a balance. @param word the new balance; may lie in an entry */
export function setBalance(a: usize, word: usize): void {
  saveWord(undoBalance, a, a + accountBalance)
  copyWord(a + accountBalance, word)
  changed(a)
}

/** Adds a word of wei. Adding zero touches the account and makes it exist. */
export function credit(a: usize, word: usize): void {
  saveWord(undoBalance, a, a + accountBalance)
  addTo(a + accountBalance, word)
  changed(a)
}

/** Returns whether the balance is at least a word of wei. */
export function covers(a: usize, word: usize): bool {
  return !below(a + accountBalance, word)
}

/** Subtracts a word of wei; the caller has checked the balance. */
export function debit(a: usize, word: usize): void {
  saveWord(undoBalance, a, a + accountBalance)
  subFrom(a + accountBalance, word)
  changed(a)
}

const moved = memory.data(32)

/**
 * Moves wei; the caller has checked the balance. Moving zero still touches the recipient if it exists.
 * @param value word; may be the balance of one of the two accounts
 */
export function transfer(from: usize, to: usize, value: usize): void {
  if (isZero(value)) {
    if (exists(to)) touch(to)
    return
  }
  copyWord(moved, value)
  debit(from, moved)
  credit(to, moved)
}

export function setNonce(a: usize, nonce: u64): void {
  saveNumber(undoNonce, a, load<u64>(a, accountNonce))
  store<u64>(a, nonce, accountNonce)
  changed(a)
}

/** Sets the code hash. @param bytes hash of the new code; the caller stores the code itself */
export function setCodeHash(a: usize, bytes: usize): void {
  saveWord(undoCodeHash, a, a + accountCodeHash)
  copyWord(a + accountCodeHash, bytes)
  store<u32>(a, 0, accountCode)
  changed(a)
}

/** Marks a new contract: keeps its balance, starts with nonce 1 (EIP-161). */
export function create(a: usize): void {
  setNonce(a, 1)
  saveNumber(undoCreated, a, load<u32>(a, accountCreatedIn))
  store<u32>(a, load<u32>(ctxTransaction), accountCreatedIn)
}

// @ts-ignore: decorator
@inline
export function isCreatedNow(a: usize): bool {
  return load<u32>(a, accountCreatedIn) === load<u32>(ctxTransaction)
}

/** Returns whether the account had storage before the session and has not lost it since. */
// @ts-ignore: decorator
@inline
export function hasOldStorage(a: usize): bool {
  return (load<u32>(a, accountFlags) & (accountStorageFlag | accountWipedFlag)) === accountStorageFlag
}

/** Marks the account for removal at the end of the transaction. */
export function destroy(a: usize): void {
  const transaction = load<u32>(ctxTransaction)
  if (load<u32>(a, accountDestroyedIn) === transaction) return
  store<u32>(a, transaction, accountDestroyedIn)
  save(undoDestroyed, a)
}

/** Removes an account and its slots. The slot entries stay but are no longer found. */
export function remove(a: usize): void {
  const flags = load<u32>(a, accountFlags)
  if ((flags & accountDirtyFlag) === 0) link(a)
  store<u32>(a, (flags & ~accountExistsFlag) | accountWipedFlag | accountDirtyFlag, accountFlags)
  store<u64>(a, 0, accountNonce)
  const none = i64x2.splat(0)
  v128.store(a, none, accountBalance)
  v128.store(a, none, accountBalance + 16)
  store<u64>(a, empty0, accountCodeHash)
  store<u64>(a, empty1, accountCodeHash + 8)
  store<u64>(a, empty2, accountCodeHash + 16)
  store<u64>(a, empty3, accountCodeHash + 24)
  store<u32>(a, 0, accountCode)
  loseSlots(a)
}

function loseSlots(a: usize): void {
  for (let s = <usize>load<u32>(a, accountSlots); s !== 0; s = <usize>load<u32>(s, slotNext)) store<u32>(s, 0, slotAccount)
  store<u32>(a, 0, accountSlots)
}

/** Marks all changed accounts as not loaded; accounts that lost their slots drop the slot entries. */
export function forgetChangedAccounts(): void {
  let a = lastDirty
  while (a !== 0) {
    if ((load<u32>(a, accountFlags) & accountWipedFlag) !== 0) loseSlots(a)
    store<u32>(a, 0, accountFlags)
    store<u32>(a, 0, accountCode)
    a = <usize>load<u32>(a, accountNextDirty)
  }
  lastDirty = 0
}

/** Returns the next account after `a` (0: the first) that was changed at some time; 0 at the end. */
export function nextChangedAccount(a: usize): usize {
  return a === 0 ? lastDirty : <usize>load<u32>(a, accountNextDirty)
}
