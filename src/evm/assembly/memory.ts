import { frameMemory, frameMemorySize } from './internal'
import { ctxMemoryHigh } from './layout'
import { toU32Clamped } from './word/word'

/** Largest EVM memory. More costs at least 2^42 gas, so it always ends as out of gas. */
const maxMemoryBytes: u64 = 0x70000000
/** A price that no frame can pay. */
export const unpayable: u64 = 0x8000000000000000

// @ts-ignore: decorator
@inline
function memoryGas(bytes: u64): u64 {
  const words = bytes >> 5
  return words * 3 + ((words * words) >> 9)
}

/** Returns the price of memory up to `end`, a sum of any two u32; zero when the frame already has it. */
export function memoryCost(frame: usize, end: u64): u64 {
  const size = <u64>load<u32>(frame, frameMemorySize)
  if (end <= size) return 0
  if (end > maxMemoryBytes) return unpayable
  return memoryGas((end + 31) & ~31) - memoryGas(size)
}

/** Returns the end of the range given by offset and size words; zero for an empty range, beyond all memory when a word is huge. */
export function rangeEnd(offset: usize, size: usize): u64 {
  const length = toU32Clamped(size)
  if (length === 0) return 0
  return <u64>toU32Clamped(offset) + <u64>length
}

/** Expands memory that is already paid for: zeros up to `end`, in whole words. */
export function expandMemory(frame: usize, end: u64): void {
  const size = load<u32>(frame, frameMemorySize)
  if (end <= <u64>size) return
  const base = load<u32>(frame, frameMemory)
  const newSize = <u32>((end + 31) & ~31)
  const from = <u64>base + <u64>size
  const top = <u64>base + <u64>newSize
  ensureMemory(top)
  const dirty = <u64>load<u32>(ctxMemoryHigh)
  if (from < dirty) memory.fill(<usize>from, 0, <usize>(min(top, dirty) - from))
  if (top > dirty) store<u32>(ctxMemoryHigh, <u32>top)
  store<u32>(frame, newSize, frameMemorySize)
}

function ensureMemory(top: u64): void {
  const have = (<u64>memory.size()) << 16
  if (top <= have) return
  const wanted = <i32>((max(top - have, 0x400000) + 0xffff) >> 16)
  if (memory.grow(wanted) < 0 && memory.grow(<i32>((top - have + 0xffff) >> 16)) < 0) unreachable()
}

/** Copies `size` bytes from offset `from` of a source of `length` bytes; fills with zeros past its end. */
export function copyPadded(to: usize, source: usize, length: u32, from: u32, size: u32): void {
  const available = from < length ? min(size, length - from) : 0
  if (available > 0) memory.copy(to, source + from, available)
  if (available < size) memory.fill(to + available, 0, size - available)
}
