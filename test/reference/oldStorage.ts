import { charge, ensure, type Frame, pop, replace, top } from './frame.ts'
import { gas } from './gas.ts'
import type { SlotState } from './journal.ts'
import type { Machine } from './machine.ts'
import type { OldRules } from './oldRules.ts'
import type { Word } from './words.ts'

/** Gas of a write that replaces the current value, before EIP-2929 split off the cost of the first access. */
const storeReset = 5_000

/** SLOAD before Berlin: only the opcode's static gas applies. */
export function oldSload(frame: Frame, machine: Machine): void {
  replace(frame, machine.journal.slot(frame.self, top(frame)).value)
}

function storeCost(old: OldRules, slot: SlotState, value: Word): number {
  if (old.store === 'plain') return slot.value === 0n && value !== 0n ? gas.storeSet : storeReset
  if (value === slot.value || slot.value !== slot.original) return old.sload
  return slot.original === 0n ? gas.storeSet : storeReset
}

function storeRefund(old: OldRules, slot: SlotState, value: Word): number {
  const { original, value: current } = slot
  const { storeClearRefund: clear } = old
  if (old.store === 'plain') return current !== 0n && value === 0n ? clear : 0
  if (value === current) return 0
  if (current === original) return original !== 0n && value === 0n ? clear : 0
  let change = 0
  if (original !== 0n && current === 0n) change -= clear
  if (original !== 0n && value === 0n) change += clear
  if (value === original) change += (original === 0n ? gas.storeSet : storeReset) - old.sload
  return change
}

/** Creates SSTORE before Berlin. @see yellow paper, appendix H; EIP-1283; EIP-2200 */
export function oldSstore(old: OldRules): (frame: Frame, machine: Machine) => void {
  return (frame, machine) => {
    if (!ensure(frame, !frame.isStatic, 'write protection')) return
    const number = pop(frame)
    const value = pop(frame)
    const hasSentry = old.store === 'net-with-sentry'
    if (hasSentry && !ensure(frame, frame.reserve > 0n || frame.gas > gas.storeSentry, 'out of gas')) return
    const slot = machine.journal.slot(frame.self, number)
    if (!charge(frame, storeCost(old, slot, value))) return
    machine.refund += storeRefund(old, slot, value)
    if (value !== slot.value) machine.journal.setSlot(slot, value)
  }
}
