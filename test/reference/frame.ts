import type { HaltReason } from '#evm/ports'
import type { Code } from './code.ts'
import type { AccountState } from './journal.ts'
import type { Memory } from './linearMemory.ts'
import type { Word } from './words.ts'

/**
 * One message while it runs. `gas` is a number below 2^53, for fast arithmetic; gas above 2^52 is kept in `reserve`, so that the sum is exact
 * for every u64.
 */
export type Frame = {
  readonly kind: 'call' | 'create'
  readonly code: Code
  /** Account whose storage and balance the code uses. */
  readonly self: AccountState
  readonly caller: Word
  readonly value: Word
  readonly input: Uint8Array
  readonly isStatic: boolean
  readonly depth: number
  /** Journal checkpoint and refund counter to restore when the frame fails. */
  readonly checkpoint: number
  readonly refundBefore: number
  readonly stack: Word[]
  readonly memory: Memory
  /** Range of the caller's memory for the output. */
  readonly outputTo: number
  readonly outputSize: number
  pc: number
  sp: number
  gas: number
  reserve: bigint
  returnData: Uint8Array
  state: 'running' | 'waiting' | 'success' | 'revert' | HaltReason
  output: Uint8Array
}

const chunk = 2 ** 52

/** Splits an exact amount of gas into `gas` and `reserve`. */
export function setGas(frame: { gas: number; reserve: bigint }, total: bigint): void {
  frame.gas = total > BigInt(chunk) ? chunk : Number(total)
  frame.reserve = total - BigInt(frame.gas)
}

export const totalGas = (frame: { readonly gas: number; readonly reserve: bigint }): bigint => BigInt(frame.gas) + frame.reserve

/** Ends the frame and consumes all its gas. Returns undefined, for the caller to return. */
export function halt(frame: Frame, reason: HaltReason): undefined {
  frame.state = reason
  frame.gas = 0
  frame.reserve = 0n
  return undefined
}

/** Halts the frame unless the condition holds; returns the condition. */
export function ensure(frame: Frame, holds: boolean, reason: HaltReason): boolean {
  if (!holds) halt(frame, reason)
  return holds
}

/** Charges gas below 2^52. Returns false, and halts the frame, when the gas does not suffice. */
export function charge(frame: Frame, cost: number): boolean {
  frame.gas -= cost
  return frame.gas >= 0 || refill(frame)
}

/** Covers a negative balance from the reserve, or halts the frame. */
export function refill(frame: Frame): boolean {
  if (frame.reserve > 0n && frame.gas > -chunk) {
    const part = frame.reserve < BigInt(chunk) ? frame.reserve : BigInt(chunk)
    frame.reserve -= part
    frame.gas += Number(part)
    if (frame.gas >= 0) return true
  }
  halt(frame, 'out of gas')
  return false
}

/** Returns gas to a frame. */
export function refund(frame: Frame, left: { readonly gas: number; readonly reserve: bigint }): void {
  if (frame.reserve === 0n && left.reserve === 0n && frame.gas + left.gas < chunk) frame.gas += left.gas
  else setGas(frame, totalGas(frame) + totalGas(left))
}

// The interpreter loop checks the stack depth before an operation runs, so these functions always find a word.
export function pop(frame: Frame): Word {
  return frame.stack[--frame.sp] as Word
}

export function push(frame: Frame, word: Word): void {
  frame.stack[frame.sp++] = word
}

export function top(frame: Frame): Word {
  return frame.stack[frame.sp - 1] as Word
}

/** Replaces the top word. */
export function replace(frame: Frame, word: Word): void {
  frame.stack[frame.sp - 1] = word
}
