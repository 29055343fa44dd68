import { charge, type Frame, halt, pop, push, replace, top } from './frame.ts'
import { gas } from './gas.ts'
import { growMemory, maxMemoryBytes } from './linearMemory.ts'
import { readWord, sizeOf, writeWord } from './words.ts'

function wordsCost(words: number): number {
  return words * 3 + Math.floor((words * words) / 512)
}

/**
 * Charges for memory up to `offset + size` and expands it.
 * @returns the offset as a number (0 for an empty range); undefined when the frame ran out of gas
 */
export function touchMemory(frame: Frame, offset: bigint, size: number): number | undefined {
  if (size === 0) return 0
  const from = sizeOf(offset)
  const end = from + size
  const { memory } = frame
  if (end <= memory.size) return from
  if (end > maxMemoryBytes) return halt(frame, 'out of gas')
  const words = Math.ceil(end / 32)
  if (!charge(frame, wordsCost(words) - wordsCost(memory.size / 32))) return undefined
  growMemory(memory, words * 32)
  return from
}

/** Returns a view of the memory, valid until the frame continues. */
export function memorySlice(frame: Frame, from: number, size: number): Uint8Array {
  return frame.memory.bytes.subarray(from, from + size)
}

/** Copies `size` bytes from an array into memory that is already paid for; fills with zeros past the end of the array. */
export function copyPadded(frame: Frame, to: number, source: Uint8Array, from: number, size: number): void {
  const available = Math.max(0, Math.min(size, source.length - from))
  if (available > 0) frame.memory.bytes.set(source.subarray(from, from + available), to)
  frame.memory.bytes.fill(0, to + available, to + size)
}

/** Executes CALLDATACOPY and the other copies: takes memory offset, source offset and size from the stack. */
export function copyToMemory(frame: Frame, source: Uint8Array, length: number): void {
  const offset = pop(frame)
  const from = sizeOf(pop(frame))
  const size = sizeOf(pop(frame))
  if (!charge(frame, Math.ceil(size / 32) * gas.copyWord)) return
  const to = touchMemory(frame, offset, size)
  if (to === undefined || size === 0) return
  copyPadded(frame, to, length === source.length ? source : source.subarray(0, length), from, size)
}

export function mload(frame: Frame): void {
  const from = touchMemory(frame, top(frame), 32)
  if (from !== undefined) replace(frame, readWord(frame.memory.view, from))
}

export function mstore(frame: Frame): void {
  const offset = pop(frame)
  const word = pop(frame)
  const to = touchMemory(frame, offset, 32)
  if (to !== undefined) writeWord(frame.memory.view, to, word)
}

export function mstore8(frame: Frame): void {
  const offset = pop(frame)
  const word = pop(frame)
  const to = touchMemory(frame, offset, 1)
  if (to !== undefined) frame.memory.bytes[to] = Number(word & 0xffn)
}

export function msize(frame: Frame): void {
  push(frame, BigInt(frame.memory.size))
}

/** MCOPY (EIP-5656). */
export function mcopy(frame: Frame): void {
  const to = pop(frame)
  const from = pop(frame)
  const size = sizeOf(pop(frame))
  if (!charge(frame, Math.ceil(size / 32) * gas.copyWord)) return
  const target = touchMemory(frame, to, size)
  const source = touchMemory(frame, from, size)
  if (target === undefined || source === undefined) return
  frame.memory.bytes.copyWithin(target, source, source + size)
}
