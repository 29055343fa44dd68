import { emptyBytes } from '#lib/bytes'
import { immediateAt } from './code.ts'
import { charge, ensure, type Frame, halt, pop, push, totalGas } from './frame.ts'
import { gas } from './gas.ts'
import { isEmpty } from './journal.ts'
import { accessAccount, type Machine, type Operation } from './machine.ts'
import { memorySlice, touchMemory } from './memory.ts'
import { addressWord, sizeOf, type Word } from './words.ts'

export function stop(frame: Frame): void {
  frame.output = emptyBytes
  frame.state = 'success'
}

function endWith(state: 'success' | 'revert'): Operation {
  return (frame) => {
    const offset = pop(frame)
    const size = sizeOf(pop(frame))
    const from = touchMemory(frame, offset, size)
    if (from === undefined) return
    frame.output = memorySlice(frame, from, size).slice()
    frame.state = state
  }
}

export const returnOutput: Operation = endWith('success')
export const revert: Operation = endWith('revert')

export function invalid(frame: Frame): void {
  halt(frame, 'invalid opcode')
}

function jumpTo(frame: Frame, target: Word): void {
  const { code } = frame
  const at = target < 0x1_0000_0000n ? Number(target) : -1
  if (code.jumpTargets[at] === 1) frame.pc = at
  else halt(frame, 'invalid jump')
}

export function jump(frame: Frame): void {
  jumpTo(frame, pop(frame))
}

export function jumpi(frame: Frame): void {
  const target = pop(frame)
  if (pop(frame) !== 0n) jumpTo(frame, target)
}

export function nothing(): void {}

export function pc(frame: Frame): void {
  push(frame, BigInt(frame.pc - 1))
}

export function gasLeft(frame: Frame): void {
  push(frame, totalGas(frame))
}

export function drop(frame: Frame): void {
  frame.sp--
}

export function push0(frame: Frame): void {
  push(frame, 0n)
}

/** Creates PUSH1 to PUSH32. */
export function pushOf(size: number): Operation {
  return (frame) => {
    push(frame, immediateAt(frame.code, frame.pc - 1, size))
    frame.pc += size
  }
}

/** Creates DUP1 to DUP16. */
export function dup(depth: number): Operation {
  return (frame) => {
    frame.stack[frame.sp] = frame.stack[frame.sp - depth] as Word
    frame.sp++
  }
}

/** Creates SWAP1 to SWAP16. */
export function swap(depth: number): Operation {
  return ({ stack, sp }) => {
    const word = stack[sp - 1] as Word
    stack[sp - 1] = stack[sp - 1 - depth] as Word
    stack[sp - 1 - depth] = word
  }
}

/**
 * Executes SELFDESTRUCT: transfers the balance to another account. From Cancun on, the contract itself is removed only when it was created in the
 * same
 * transaction (EIP-6780); a removed contract that names itself burns its balance.
 */
export function selfdestruct(frame: Frame, machine: Machine): void {
  if (!ensure(frame, !frame.isStatic, 'write protection')) return
  const { journal } = machine
  const { self } = frame
  const heir = accessAccount(frame, machine, addressWord(pop(frame)), 0)
  if (!heir) return
  const { old } = machine
  const isNew = old?.clearsEmpty === false ? !heir.exists : self.balance !== 0n && isEmpty(heir)
  if (isNew && !charge(frame, old?.destructNewAccount ?? gas.newAccount)) return
  if (old && !journal.isDestroyedNow(self)) machine.refund += old.destructRefund
  const goes = !machine.isCancun || journal.isCreatedNow(self)
  if (heir !== self) journal.transfer(self, heir, self.balance)
  else if (goes) journal.setBalance(self, 0n)
  if (goes) journal.destroy(self)
  stop(frame)
}
