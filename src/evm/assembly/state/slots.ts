// Storage slots: dense entries, found by account and number. The host loads each value from the view once per session.
import { keccak256 } from '../keccak'
import {
  accountFlags,
  accountLoadedFlag,
  accountSlots,
  accountStorageFlag,
  accountWipedFlag,
  ctxSlotsTop,
  ctxTransaction,
  slotAccount,
  slotBefore,
  slotBytes,
  slotDirty,
  slotIndexBase,
  slotIndexMaxBytes,
  slotKey,
  slotLoaded,
  slotNext,
  slotNumber,
  slotOriginal,
  slotSeenIn,
  slotsBase,
  slotsEnd,
  slotValue,
  slotWarmIn,
} from '../layout'
import { pairHash } from './hash'
import { save, saveWord, undoSlot, undoWarmSlot } from './undo'
import { copyWord, equal } from '../word/word'

const firstBits: u32 = 11
const maxBits: u32 = 22

/** Bits of `slotLoaded`: the value of the view is loaded; the key is computed. */
const loadedBit: u32 = 1
const keyedBit: u32 = 2

let bits: u32 = firstBits
let count: u32 = 0
let highest: usize = slotsBase
/** The slot whose first write came last. */
let lastDirty: usize = 0
/** `slotDirty` of the slot whose first write came first. */
const endOfDirty: u32 = 1

const ordered = memory.data(32)

// @ts-ignore: decorator
@inline
function cellOf(place: u32): usize {
  return <usize>slotIndexBase + (<usize>place << 2)
}

/** Forgets all slots. Cost is proportional to the size of the index. */
export function clearSlots(): void {
  if ((4 << bits) > slotIndexMaxBytes) unreachable()
  memory.fill(slotIndexBase, 0, <usize>4 << bits)
  highest = max(highest, <usize>load<u32>(ctxSlotsTop))
  bits = firstBits
  count = 0
  lastDirty = 0
  store<u32>(ctxSlotsTop, slotsBase)
}

export function slotsHighest(): usize {
  return max(highest, <usize>load<u32>(ctxSlotsTop))
}

/** Doubles the index and reinserts the entries that are still reachable. */
function grow(): void {
  if (bits === maxBits) return
  bits++
  memory.fill(slotIndexBase, 0, <usize>4 << bits)
  const mask = (<u32>1 << bits) - 1
  const top = <usize>load<u32>(ctxSlotsTop)
  for (let s: usize = slotsBase; s < top; s += slotBytes) {
    const account = <usize>load<u32>(s, slotAccount)
    if (account === 0) continue
    let place = <u32>(pairHash(account, s + slotNumber) >>> (64 - bits))
    while (load<u32>(cellOf(place)) !== 0) place = (place + 1) & mask
    store<u32>(cellOf(place), <u32>s)
  }
}

/** Returns the index cell that holds the slot, or the free cell for it. */
// @ts-ignore: decorator
@inline
function find(account: usize, number: usize): usize {
  const place = <u32>(pairHash(account, number) >>> (64 - bits))
  const cell = cellOf(place)
  return isPlaceOf(cell, account, number) ? cell : findAfter(place, account, number)
}

// @ts-ignore: decorator
@inline
function isPlaceOf(cell: usize, account: usize, number: usize): bool {
  const s = <usize>load<u32>(cell)
  return s === 0 || (load<u32>(s, slotAccount) === <u32>account && equal(s + slotNumber, number))
}

function findAfter(place: u32, account: usize, number: usize): usize {
  const mask = (<u32>1 << bits) - 1
  let cell: usize
  do {
    place = (place + 1) & mask
    cell = cellOf(place)
  } while (!isPlaceOf(cell, account, number))
  return cell
}

/** Returns whether the view has no valid storage of the account. */
// @ts-ignore: decorator
@inline
function hasNothingBelow(account: usize): bool {
  const flags = load<u32>(account, accountFlags)
  return (flags & accountLoadedFlag) !== 0 && (flags & (accountStorageFlag | accountWipedFlag)) !== accountStorageFlag
}

function make(cell: usize, account: usize, number: usize): usize {
  if (++count > <u32>1 << (bits - 1)) {
    grow()
    cell = find(account, number)
  }
  const s = <usize>load<u32>(ctxSlotsTop)
  if (s + slotBytes > <usize>slotsEnd) unreachable()
  store<u32>(ctxSlotsTop, <u32>(s + slotBytes))
  copyWord(s + slotNumber, number)
  const none = i64x2.splat(0)
  v128.store(s, none, slotValue)
  v128.store(s, none, slotValue + 16)
  v128.store(s, none, slotBefore)
  v128.store(s, none, slotBefore + 16)
  v128.store(s, none, slotOriginal)
  v128.store(s, none, slotOriginal + 16)
  store<u32>(s, <u32>account, slotAccount)
  store<u32>(s, load<u32>(account, accountSlots), slotNext)
  store<u32>(account, <u32>s, accountSlots)
  store<u64>(s, 0, slotSeenIn)
  store<u32>(s, hasNothingBelow(account) ? loadedBit : 0, slotLoaded)
  store<u32>(s, 0, slotDirty)
  store<u32>(cell, <u32>s)
  return s
}

/** Returns the entry of a slot, creating it if necessary. It is zero at once when the view has no storage of the account. */
export function slotOf(account: usize, number: usize): usize {
  const cell = find(account, number)
  const s = <usize>load<u32>(cell)
  return s !== 0 ? s : make(cell, account, number)
}

/** Returns the entry of a slot when it is warm; otherwise 0. Callers use this before charging and `slotOf` after it, as with `warmAccountOf`. */
export function warmSlotOf(account: usize, number: usize): usize {
  const s = <usize>load<u32>(find(account, number))
  return s !== 0 && isSlotWarm(s) ? s : 0
}

// @ts-ignore: decorator
@inline
export function isSlotLoaded(s: usize): bool {
  return (load<u32>(s, slotLoaded) & loadedBit) !== 0
}

// @ts-ignore: decorator
@inline
export function isSlotWarm(s: usize): bool {
  return load<u32>(s, slotWarmIn) === load<u32>(ctxTransaction)
}

/** Warms a slot until the transaction ends or the checkpoint is reverted (EIP-2929). */
export function warmSlot(s: usize): void {
  if (isSlotWarm(s)) return
  save(undoWarmSlot, s)
  store<u32>(s, load<u32>(ctxTransaction), slotWarmIn)
}

/** Must run before a slot's original or current value is used. The value at the first use in a transaction is its original value (EIP-2200). */
// @ts-ignore: decorator
@inline
export function freshen(s: usize): void {
  const transaction = load<u32>(ctxTransaction)
  if (load<u32>(s, slotSeenIn) === transaction) return
  store<u32>(s, transaction, slotSeenIn)
  copyWord(s + slotOriginal, s + slotValue)
}

export function setSlot(s: usize, value: usize): void {
  saveWord(undoSlot, s, s + slotValue)
  copyWord(s + slotValue, value)
  if (load<u32>(s, slotDirty) !== 0) return
  store<u32>(s, lastDirty === 0 ? endOfDirty : <u32>lastDirty, slotDirty)
  lastDirty = s
}

// @ts-ignore: decorator
@inline
function nextDirty(s: usize): usize {
  const next = load<u32>(s, slotDirty)
  return next === endOfDirty ? 0 : <usize>next
}

/** Restores the view's value of all slots that were set. */
export function restoreChangedSlots(): void {
  let s = lastDirty
  while (s !== 0) {
    const next = nextDirty(s)
    copyWord(s + slotValue, s + slotBefore)
    store<u32>(s, 0, slotDirty)
    s = next
  }
  lastDirty = 0
}

/** Computes the slot's key unless it is present. */
export function hashSlot(s: usize): void {
  const state = load<u32>(s, slotLoaded)
  if ((state & keyedBit) !== 0) return
  store<u32>(s, state | keyedBit, slotLoaded)
  store<u64>(ordered, bswap(load<u64>(s, slotNumber + 24)))
  store<u64>(ordered, bswap(load<u64>(s, slotNumber + 16)), 8)
  store<u64>(ordered, bswap(load<u64>(s, slotNumber + 8)), 16)
  store<u64>(ordered, bswap(load<u64>(s, slotNumber)), 24)
  keccak256(ordered, 32, s + slotKey)
}

/** Stores the value loaded from the view: `bytes` points to 32 big-endian bytes, 0 means zero. */
export function loadSlot(s: usize, bytes: usize): void {
  store<u32>(s, load<u32>(s, slotLoaded) | loadedBit, slotLoaded)
  if (bytes === 0) return
  store<u64>(s, bswap(load<u64>(bytes, 24)), slotValue)
  store<u64>(s, bswap(load<u64>(bytes, 16)), slotValue + 8)
  store<u64>(s, bswap(load<u64>(bytes, 8)), slotValue + 16)
  store<u64>(s, bswap(load<u64>(bytes)), slotValue + 24)
  copyWord(s + slotBefore, s + slotValue)
}

/** Returns the next slot after `s` (0: the first) whose value differs from the view's, with its key; 0 at the end. */
export function nextChangedSlot(s: usize): usize {
  let at = s === 0 ? lastDirty : nextDirty(s)
  while (at !== 0) {
    if (load<u32>(at, slotAccount) !== 0 && !equal(at + slotValue, at + slotBefore)) {
      hashSlot(at)
      return at
    }
    at = nextDirty(at)
  }
  return 0
}
