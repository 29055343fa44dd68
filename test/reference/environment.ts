import { keccak256 } from '#lib/keccak'
import { charge, ensure, type Frame, pop, push, replace, top } from './frame.ts'
import { gas } from './gas.ts'
import { isEmpty } from './journal.ts'
import { accessAccount, type BlockWords, codeOf, type Machine, type Operation } from './machine.ts'
import { copyPadded, copyToMemory, memorySlice, touchMemory } from './memory.ts'
import { addressWord, sizeOf, wordFromBytes, wordFromPadded } from './words.ts'

export function keccak(frame: Frame): void {
  const offset = pop(frame)
  const size = sizeOf(top(frame))
  if (!charge(frame, Math.ceil(size / 32) * gas.keccakWord)) return
  const from = touchMemory(frame, offset, size)
  if (from !== undefined) replace(frame, wordFromBytes(keccak256(memorySlice(frame, from, size))))
}

export function address(frame: Frame): void {
  push(frame, frame.self.address)
}

export function balance(frame: Frame, machine: Machine): void {
  const account = accessAccount(frame, machine, addressWord(top(frame)))
  if (account) replace(frame, account.balance)
}

export function selfbalance(frame: Frame): void {
  push(frame, frame.self.balance)
}

export function origin(frame: Frame, machine: Machine): void {
  push(frame, machine.transaction.origin)
}

export function caller(frame: Frame): void {
  push(frame, frame.caller)
}

export function callvalue(frame: Frame): void {
  push(frame, frame.value)
}

export function calldataload(frame: Frame): void {
  const from = sizeOf(top(frame))
  replace(frame, from < frame.input.length ? wordFromPadded(frame.input, from) : 0n)
}

export function calldatasize(frame: Frame): void {
  push(frame, BigInt(frame.input.length))
}

export function calldatacopy(frame: Frame): void {
  copyToMemory(frame, frame.input, frame.input.length)
}

export function codesize(frame: Frame): void {
  push(frame, BigInt(frame.code.length))
}

export function codecopy(frame: Frame): void {
  copyToMemory(frame, frame.code.bytes, frame.code.length)
}

export function gasprice(frame: Frame, machine: Machine): void {
  push(frame, machine.transaction.gasPrice)
}

export function extcodesize(frame: Frame, machine: Machine): void {
  const account = accessAccount(frame, machine, addressWord(top(frame)))
  if (account) replace(frame, BigInt(codeOf(machine, account).length))
}

export function extcodecopy(frame: Frame, machine: Machine): void {
  const account = accessAccount(frame, machine, addressWord(pop(frame)))
  if (!account) return
  const code = codeOf(machine, account)
  copyToMemory(frame, code.bytes, code.length)
}

/** EXTCODEHASH (EIP-1052): zero for an account that does not exist or is empty. */
export function extcodehash(frame: Frame, machine: Machine): void {
  const account = accessAccount(frame, machine, addressWord(top(frame)))
  if (account) replace(frame, isEmpty(account) ? 0n : BigInt(account.codeHash))
}

export function returndatasize(frame: Frame): void {
  push(frame, BigInt(frame.returnData.length))
}

/** RETURNDATACOPY (EIP-211): the only copy that must not read past the end. */
export function returndatacopy(frame: Frame): void {
  const offset = pop(frame)
  const from = sizeOf(pop(frame))
  const size = sizeOf(pop(frame))
  if (!ensure(frame, from + size <= frame.returnData.length, 'return data out of bounds')) return
  if (!charge(frame, Math.ceil(size / 32) * gas.copyWord)) return
  const to = touchMemory(frame, offset, size)
  if (to !== undefined && size > 0) copyPadded(frame, to, frame.returnData, from, size)
}

export function blockhash(frame: Frame, machine: Machine): void {
  const number = top(frame)
  const current = machine.block.number
  const isNear = number < current && number + 256n >= current
  const hash = isNear ? machine.journal.blockHash(Number(number)) : undefined
  replace(frame, hash === undefined ? 0n : BigInt(hash))
}

/** Creates an operation that pushes a word of the block environment. */
export function ofBlock(name: keyof BlockWords): Operation {
  return (frame, machine) => push(frame, machine.block[name])
}

/** BLOBHASH (EIP-4844). */
export function blobhash(frame: Frame, machine: Machine): void {
  const index = sizeOf(top(frame))
  replace(frame, machine.transaction.blobHashes[index] ?? 0n)
}
