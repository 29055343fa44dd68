import { overflow } from '../kit/ends.ts'
import { add, isBelow, newWord, subtract, type Word } from '../kit/word.ts'
import { insufficientBalance, supplyCapExceeded } from './errors.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'

const slot = newWord()
const balance = newWord()

export const balanceOf = ({ storage }: TokenFrame, holder: Word): Word => storage.read(tokenFields.balances.slot(slot, holder))

/** @throws NativeRevert InsufficientBalance */
export function debit({ host, account }: TokenFrame, holder: Word, amount: Word): void {
  tokenFields.balances.slot(slot, holder)
  if (!host.subtract(account, slot, amount, balance)) throw insufficientBalance(holder, balance, amount)
}

/** @throws NativeRevert Panic(0x11) */
export function credit({ host, account }: TokenFrame, holder: Word, amount: Word): void {
  tokenFields.balances.slot(slot, holder)
  if (!host.add(account, slot, amount)) throw overflow()
}

/** Adds to the supply, up to the cap. @throws NativeRevert Panic(0x11), SupplyCapExceeded */
export function raiseSupply({ storage }: TokenFrame, amount: Word): void {
  const supply = storage.read(tokenFields.totalSupply)
  const cap = storage.read(tokenFields.supplyCap)
  if (add(supply, supply, amount)) throw overflow()
  if (isBelow(cap, supply)) throw supplyCapExceeded(cap, supply)
  storage.write(tokenFields.totalSupply, supply)
}

/** Subtracts from the supply. @throws NativeRevert Panic(0x11) */
export function lowerSupply({ storage }: TokenFrame, amount: Word): void {
  const supply = storage.read(tokenFields.totalSupply)
  if (isBelow(supply, amount)) throw overflow()
  subtract(supply, supply, amount)
  storage.write(tokenFields.totalSupply, supply)
}
