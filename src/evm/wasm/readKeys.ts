import {
  accountAddress,
  accountBytes,
  accountCodedFlag,
  accountFlags,
  accountKey,
  accountLoadedFlag,
  accountsBase,
  ctxAccountsTop,
  ctxSlotsTop,
  slotBytes,
  slotKey,
  slotLoaded,
  slotNumber,
  slotsBase,
} from '../assembly/layout.ts'
import type { KeyPreimage, ReadKeys } from '../ports.ts'
import type { WasmMemory } from './wasmMemory.ts'

const keyBytes = 32

/** Returns the keys of the loaded entries in the tables of an instance. */
export function readKeysOf(memory: WasmMemory): ReadKeys {
  const accounts: ReadKeys['accounts'][number][] = []
  for (let entry = accountsBase; entry < memory.number(ctxAccountsTop); entry += accountBytes) {
    const flags = memory.number(entry + accountFlags)
    if ((flags & accountLoadedFlag) === 0) continue
    const isCoded = (flags & accountCodedFlag) !== 0
    accounts.push({ key: memory.bytes(entry + accountKey, keyBytes), preimage: memory.addressBytes(entry + accountAddress), isCoded })
  }
  const slots: KeyPreimage[] = []
  for (let slot = slotsBase; slot < memory.number(ctxSlotsTop); slot += slotBytes) {
    if (memory.number(slot + slotLoaded) === 0) continue
    slots.push({ key: memory.bytes(slot + slotKey, keyBytes), preimage: memory.wordBytes(slot + slotNumber) })
  }
  return { accounts, slots }
}
