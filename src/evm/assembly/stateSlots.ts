// Storage slots: dense entries, found by account and number. The host is asked for what the view has below, once a session.
import { keccak256 } from './keccak'
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
} from './layout'
import { pairHash } from './stateHash'
import { save, saveWord, undoSlot, undoWarmSlot } from './stateUndo'
import { copyWord, equal } from './word'

const firstBits: u32 = 11
const maxBits: u32 = 22

/** bits of `slotLoaded`: the view has been asked; the key is there */
const loadedBit: u32 = 1
const keyedBit: u32 = 2

let bits: u32 = firstBits
let count: u32 = 0
let highest: usize = slotsBase
/** the slot that was first set last */
let lastDirty: usize = 0
/** `slotDirty` of the one that was set first */
const endOfDirty: u32 = 1

const ordered = memory.data(32)

// @ts-ignore: decorator
@inline
function cellOf(place: u32): usize {
  return <usize>slotIndexBase + (<usize>place << 2)
}

/** Forgets all slots. Costs what the index had grown to. */
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

/** Twice the index: the entries that are still found find their places again. */
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

/** The cell of the index that has the slot, or is free for it. */
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

/** Whether the view has nothing of the account's storage that counts. */
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

/** The slot of that number: an entry, made when there is none; it is zero at once where the view has nothing. */
export function slotOf(account: usize, number: usize): usize {
  const cell = find(account, number)
  const s = <usize>load<u32>(cell)
  return s !== 0 ? s : make(cell, account, number)
}

/** The slot of that number when it is warm; else 0. Ask this before payment, `slotOf` after it, as with `warmAccountOf`. */
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

/** Until the transaction ends or the checkpoint is reverted (EIP-2929). */
export function warmSlot(s: usize): void {
  if (isSlotWarm(s)) return
  save(undoWarmSlot, s)
  store<u32>(s, load<u32>(ctxTransaction), slotWarmIn)
}

/** Before a slot's original or value is used: what it is when a transaction first sees it is its original value (EIP-2200). */
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

/** Slots that were set have the view's value again. */
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

/** Sees to it that the slot's key is there. */
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

/** The view has been asked: `value` points to 32 bytes in order, 0 is zero. */
export function loadSlot(s: usize, bytes: usize): void {
  store<u32>(s, load<u32>(s, slotLoaded) | loadedBit, slotLoaded)
  if (bytes === 0) return
  store<u64>(s, bswap(load<u64>(bytes, 24)), slotValue)
  store<u64>(s, bswap(load<u64>(bytes, 16)), slotValue + 8)
  store<u64>(s, bswap(load<u64>(bytes, 8)), slotValue + 16)
  store<u64>(s, bswap(load<u64>(bytes)), slotValue + 24)
  copyWord(s + slotBefore, s + slotValue)
}

/** The next slot after `s` (0: the first) whose value is not the view's, with its key; 0 when there is none. */
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
