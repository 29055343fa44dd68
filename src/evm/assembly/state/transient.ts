// Transient storage (EIP-1153): like slots, but cleared at the end of the transaction.
import {
  ctxTransientTop,
  transientAccount,
  transientBase,
  transientEnd,
  transientEntryBytes,
  transientIndexBase,
  transientNumber,
  transientValue,
} from '../layout'
import { pairHash } from './hash'
import { saveWord, undoTransient } from './undo'
import { copyWord, equal } from '../word/word'

/** u32, the entry's index cell, so that used cells can be cleared without scanning the index. */
const transientCell: usize = transientAccount + 4

const firstBits: u32 = 9
const maxBits: u32 = 23

let bits: u32 = firstBits
let count: u32 = 0
let highest: usize = transientBase

// @ts-ignore: decorator
@inline
function cellOf(place: u32): usize {
  return <usize>transientIndexBase + (<usize>place << 2)
}

export function transientHighest(): usize {
  return highest
}

/** Clears all values. Cost is proportional to the number of entries. */
export function clearTransient(): void {
  const top = <usize>load<u32>(ctxTransientTop)
  highest = max(highest, top)
  for (let t: usize = transientBase; t < top; t += transientEntryBytes) store<u32>(<usize>load<u32>(t, transientCell), 0)
  bits = firstBits
  count = 0
  store<u32>(ctxTransientTop, transientBase)
}

/** Doubles the index, which is otherwise empty, and reinserts the entries. */
function grow(): void {
  if (bits === maxBits) return
  bits++
  const top = <usize>load<u32>(ctxTransientTop)
  for (let t: usize = transientBase; t < top; t += transientEntryBytes) store<u32>(<usize>load<u32>(t, transientCell), 0)
  const mask = (<u32>1 << bits) - 1
  for (let t: usize = transientBase; t < top; t += transientEntryBytes) {
    let place = <u32>(pairHash(<usize>load<u32>(t, transientAccount), t + transientNumber) >>> (64 - bits))
    while (load<u32>(cellOf(place)) !== 0) place = (place + 1) & mask
    put(t, cellOf(place))
  }
}

// @ts-ignore: decorator
@inline
function put(t: usize, cell: usize): void {
  store<u32>(cell, <u32>t)
  store<u32>(t, <u32>cell, transientCell)
}

/** Returns the index cell that holds the entry, or the free cell for it. */
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
  const t = <usize>load<u32>(cell)
  return t === 0 || (load<u32>(t, transientAccount) === <u32>account && equal(t + transientNumber, number))
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

/** Returns a pointer to the value; 0 when it was never set in this transaction. */
export function transientOf(account: usize, number: usize): usize {
  if (count === 0) return 0
  const t = <usize>load<u32>(find(account, number))
  return t === 0 ? 0 : t + transientValue
}

function make(cell: usize, account: usize, number: usize): usize {
  if (++count > <u32>1 << (bits - 1)) {
    grow()
    cell = find(account, number)
  }
  const t = <usize>load<u32>(ctxTransientTop)
  if (t + transientEntryBytes > <usize>transientEnd) unreachable()
  store<u32>(ctxTransientTop, <u32>(t + transientEntryBytes))
  copyWord(t + transientNumber, number)
  const none = i64x2.splat(0)
  v128.store(t, none, transientValue)
  v128.store(t, none, transientValue + 16)
  store<u32>(t, <u32>account, transientAccount)
  put(t, cell)
  return t
}

export function setTransient(account: usize, number: usize, value: usize): void {
  const cell = find(account, number)
  let t = <usize>load<u32>(cell)
  if (t === 0) t = make(cell, account, number)
  saveWord(undoTransient, t, t + transientValue)
  copyWord(t + transientValue, value)
}
