import { charge, ensure, type Frame, pop, replace, top } from './frame.ts'
import { gas } from './gas.ts'
import type { AccountState, SlotState } from './journal.ts'
import { isWarmSlot, type Machine } from './machine.ts'
import type { Word } from './words.ts'

export function sload(frame: Frame, machine: Machine): void {
  const value = loadSlot(frame, machine, frame.self, top(frame))
  if (value !== undefined) replace(frame, value)
}

/** Charges for and reads a slot of an account. Returns undefined when the frame ran out of gas. */
export function loadSlot(frame: Frame, machine: Machine, account: AccountState, number: Word): Word | undefined {
  if (!charge(frame, isWarmSlot(machine, account, number) ? gas.warm : gas.coldSlot)) return undefined
  const slot = machine.journal.slot(account, number)
  machine.journal.warm(slot)
  return slot.value
}

/** Returns the gas of a store: EIP-2200 with the prices of EIP-2929. Only the first change of a slot in a transaction costs more than a warm read. */
function storeCost(slot: SlotState, value: Word): number {
  if (value === slot.value || slot.value !== slot.original) return gas.warm
  return slot.original === 0n ? gas.storeSet : gas.storeReset
}

/** Returns the refund of a store; EIP-3529. */
function storeRefund(slot: SlotState, value: Word, clearRefund: number): number {
  const { original, value: current } = slot
  if (value === current) return 0
  if (current === original) return original !== 0n && value === 0n ? clearRefund : 0
  let change = 0
  if (original !== 0n && current === 0n) change -= clearRefund
  if (original !== 0n && value === 0n) change += clearRefund
  if (value === original) change += (original === 0n ? gas.storeSet : gas.storeReset) - gas.warm
  return change
}

export function sstore(frame: Frame, machine: Machine): void {
  if (!ensure(frame, !frame.isStatic, 'write protection')) return
  const number = pop(frame)
  storeSlot(frame, machine, frame.self, number, pop(frame))
}

/** Charges for and writes a slot of an account; halts the frame when the gas does not suffice. */
export function storeSlot(frame: Frame, machine: Machine, account: AccountState, number: Word, value: Word): void {
  if (!ensure(frame, frame.reserve > 0n || frame.gas > gas.storeSentry, 'out of gas')) return
  if (!isWarmSlot(machine, account, number) && !charge(frame, gas.coldSlot)) return
  const slot = machine.journal.slot(account, number)
  machine.journal.warm(slot)
  if (!charge(frame, storeCost(slot, value))) return
  machine.refund += storeRefund(slot, value, machine.old?.storeClearRefund ?? gas.storeClearRefund)
  if (value !== slot.value) machine.journal.setSlot(slot, value)
}

/** TLOAD; EIP-1153. */
export function tload(frame: Frame, machine: Machine): void {
  replace(frame, machine.journal.transient(frame.self.address, top(frame)))
}

export function tstore(frame: Frame, machine: Machine): void {
  if (!ensure(frame, !frame.isStatic, 'write protection')) return
  const number = pop(frame)
  machine.journal.setTransient(frame.self.address, number, pop(frame))
}
