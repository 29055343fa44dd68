import { exitFor } from './calls'
import { charge, gasLeft } from './gas'
import {
  frameEnds,
  frameIsStatic,
  frameSelf,
  gasColdSlot,
  gasStoreReset,
  gasStoreSentry,
  gasStoreSet,
  gasWarm,
  goOn,
  refundStoreClear,
} from './internal'
import { ctxRefund, endedOutOfGas, endedWriteProtection, exitSlot, slotOriginal, slotValue } from './layout'
import { freshen, isSlotLoaded, isSlotWarm, setSlot, setTransient, slotOf, transientOf, warmSlot, warmSlotOf } from './state/state'
import { copyWord, equal, isZero, zero } from './word/word'

/** Executes SLOAD. Requests a slot from the view only after checking that the gas suffices. */
export function sload(frame: usize, sp: usize): i32 {
  const self = <usize>load<u32>(frame, frameSelf)
  const warm = warmSlotOf(self, sp)
  const cost = warm !== 0 ? gasWarm : gasColdSlot
  if (cost > gasLeft()) return frameEnds + endedOutOfGas
  const slot = warm !== 0 ? warm : slotOf(self, sp)
  if (!isSlotLoaded(slot)) return exitFor(exitSlot, slot)
  charge(cost)
  if (warm === 0) warmSlot(slot)
  copyWord(sp, slot + slotValue)
  return goOn
}

/** Returns the gas of a store: EIP-2200 with the prices of EIP-2929. Only the first change of a slot in a transaction costs more than a warm read. */
function storeCost(slot: usize, value: usize): u64 {
  if (equal(value, slot + slotValue) || !equal(slot + slotValue, slot + slotOriginal)) return gasWarm
  return isZero(slot + slotOriginal) ? gasStoreSet : gasStoreReset
}

/** Returns the refund of a store; EIP-3529. */
function storeRefund(slot: usize, value: usize): i64 {
  const current = slot + slotValue
  const original = slot + slotOriginal
  if (equal(value, current)) return 0
  const hadValue = !isZero(original)
  if (equal(current, original)) return hadValue && isZero(value) ? refundStoreClear : 0
  let change: i64 = 0
  if (hadValue && isZero(current)) change -= refundStoreClear
  if (hadValue && isZero(value)) change += refundStoreClear
  if (equal(value, original)) change += <i64>((hadValue ? gasStoreReset : gasStoreSet) - gasWarm)
  return change
}

/** Executes SSTORE. @param rest gas of the rest of the block, which is charged already but still counts as left */
export function sstore(frame: usize, sp: usize, rest: u64): i32 {
  if (load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  const left = gasLeft()
  if (left + rest <= gasStoreSentry) return frameEnds + endedOutOfGas
  const slot = slotOf(<usize>load<u32>(frame, frameSelf), sp)
  if (!isSlotWarm(slot) && gasColdSlot > left) return frameEnds + endedOutOfGas
  if (!isSlotLoaded(slot)) return exitFor(exitSlot, slot)
  return payStore(slot, sp - 32) ? goOn : frameEnds + endedOutOfGas
}

/** Charges for and executes a store to a loaded slot. Returns false, with nothing changed, when the gas does not suffice. */
// @ts-ignore: decorator
@inline
export function payStore(slot: usize, value: usize): bool {
  const access = isSlotWarm(slot) ? 0 : gasColdSlot
  freshen(slot)
  if (!charge(access + storeCost(slot, value))) return false
  if (access !== 0) warmSlot(slot)
  store<i64>(ctxRefund, load<i64>(ctxRefund) + storeRefund(slot, value))
  if (!equal(value, slot + slotValue)) setSlot(slot, value)
  return true
}

/** TLOAD; EIP-1153. */
export function tload(frame: usize, sp: usize): void {
  const value = transientOf(<usize>load<u32>(frame, frameSelf), sp)
  if (value === 0) zero(sp)
  else copyWord(sp, value)
}

export function tstore(frame: usize, sp: usize): i32 {
  if (load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  setTransient(<usize>load<u32>(frame, frameSelf), sp, sp - 32)
  return goOn
}
