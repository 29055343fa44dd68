// Native contracts: addresses that the host runs. Their frames wait for the host like those of precompiles, and use the state through the functions below.
import { endFrame } from './ends'
import { running } from './frames'
import { charge, gasLeft } from './gas'
import {
  frameCaller,
  frameCodeAccount,
  frameInput,
  frameInputSize,
  frameNativeFlags,
  frameNativeGas,
  frameNativeRefund,
  frameNativeReserve,
  frameNativeStart,
  frameSelf,
  gasColdAccount,
  gasColdSlot,
  gasStoreSentry,
  gasWarm,
} from './internal'
import {
  ctxExitEntry,
  ctxExitFrom,
  ctxExitId,
  ctxExitSize,
  ctxGas,
  ctxNativeCaller,
  ctxNativeFlags,
  ctxRefund,
  ctxReserve,
  ctxReturnSize,
  endedOutOfGas,
  exitNative,
  slotValue,
} from './layout'
import { accountOf, addLog, checkpoint, isSlotLoaded, revertTo, slotOf, warm, warmAccountOf, warmSlot, warmSlotOf } from './state/state'
import { payStore } from './storage'
import { below } from './word/compare'
import { addTo, copyWord, subFrom } from './word/word'

/** Reports a native frame to the host. */
export function exitToNative(frame: usize): i32 {
  store<u32>(ctxExitId, load<u32>(frame, frameCodeAccount))
  store<u32>(ctxExitEntry, load<u32>(frame, frameSelf))
  store<u32>(ctxExitFrom, load<u32>(frame, frameInput))
  store<u32>(ctxExitSize, load<u32>(frame, frameInputSize))
  store<u32>(ctxNativeCaller, <u32>(frame + frameCaller))
  store<u32>(ctxNativeFlags, load<u32>(frame, frameNativeFlags))
  store<u32>(frame, checkpoint(), frameNativeStart)
  store<i64>(frame, load<i64>(ctxRefund), frameNativeRefund)
  store<u64>(frame, load<u64>(ctxGas), frameNativeGas)
  store<u64>(frame, load<u64>(ctxReserve), frameNativeReserve)
  return exitNative
}

/** Undoes what the native frame has done, before the host runs it again. */
export function restartNative(): void {
  const frame = running()
  revertTo(load<u32>(frame, frameNativeStart))
  store<i64>(ctxRefund, load<i64>(frame, frameNativeRefund))
  store<u64>(ctxGas, load<u64>(frame, frameNativeGas))
  store<u64>(ctxReserve, load<u64>(frame, frameNativeReserve))
}

/**
 * Completes the native frame; its output is at `returnBase`.
 * @param ended one of `ended…`
 * @param owed gas that the host has not charged yet
 */
export function completeNative(ended: i32, outputSize: u32, owed: u32): void {
  const isPaid = charge(<u64>owed)
  store<u32>(ctxReturnSize, isPaid ? outputSize : 0)
  endFrame(isPaid ? ended : endedOutOfGas)
}

// The functions below first charge `owed`, the gas that the host has not charged yet. Nothing is observable between two charges.

/** Reads a slot like SLOAD; the value is in the slot entry. @returns the entry; 0: out of gas; an entry + 1: the host must load it and repeat */
export function loadNative(account: usize, number: usize, owed: u32): usize {
  const known = warmSlotOf(account, number)
  const cost = (known !== 0 ? gasWarm : gasColdSlot) + <u64>owed
  if (cost > gasLeft()) return 0
  const slot = known !== 0 ? known : slotOf(account, number)
  if (!isSlotLoaded(slot)) return slot + 1
  charge(cost)
  if (known === 0) warmSlot(slot)
  return slot
}

/** Writes a slot like SSTORE. @returns as `loadNative` */
export function storeNative(account: usize, number: usize, value: usize, owed: u32): usize {
  const left = gasLeft()
  if (<u64>owed > left || left - <u64>owed <= gasStoreSentry) return 0
  const slot = slotOf(account, number)
  if (!isSlotLoaded(slot)) return slot + 1
  charge(<u64>owed)
  return payStore(slot, value) ? slot : 0
}

/** Adds an amount to a slot, or subtracts it: a read and a write. @returns as `loadNative`; an entry + 2: the sum exceeds a word, + 4: the difference is negative */
export function moveNative(account: usize, number: usize, amount: usize, isAdded: u32, owed: u32): usize {
  const slot = loadNative(account, number, owed)
  if (slot === 0 || (slot & 1) !== 0) return slot
  if (isAdded !== 0) {
    copyWord(moved, slot + slotValue)
    addTo(moved, amount)
    if (below(moved, amount)) return slot + 2
  } else {
    if (below(slot + slotValue, amount)) return slot + 4
    copyWord(moved, slot + slotValue)
    subFrom(moved, amount)
  }
  if (gasLeft() <= gasStoreSentry) return 0
  return payStore(slot, moved) ? slot : 0
}

const moved = memory.data(32)

/** Charges for and warms an account. @returns its entry, perhaps not loaded; 0: out of gas */
export function accessNative(word: usize, owed: u32): usize {
  const known = warmAccountOf(word)
  const cost = known !== 0 ? gasWarm : gasColdAccount
  if (!charge(cost + <u64>owed)) return 0
  const account = known !== 0 ? known : accountOf(word)
  warm(account)
  return account
}

/** Charges for and adds a log; parameters as `addLog`. @returns 0: out of gas */
export function logNative(account: usize, topics: u32, top: usize, data: usize, size: u32, owed: u32): u32 {
  if (!charge(<u64>owed + 375 + 375 * <u64>topics + 8 * <u64>size)) return 0
  addLog(account, topics, top, data, size)
  return 1
}
