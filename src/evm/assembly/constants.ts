import { opPushLong, opPushNegative, opPushShort, opPushWord } from './internal'
import { copyWord } from './word/word'

/**
 * Stack of constants during translation: words that the code pushed and no opcode has used yet. Their values are known, so they can be folded, serve
 * as jump targets or become operands. The most recent one is on top.
 */
const bottom: usize = memory.data(32 * 68)
export const maxConstants: u32 = 64
let count: u32 = 0

export function clearConstants(): void {
  count = 0
}

export function constantCount(): u32 {
  return count
}

/** Returns a pointer to the constant on top, usable as a stack pointer. */
export function topConstant(): usize {
  return bottom + (<usize>count << 5)
}

/** Adds a constant and returns the pointer to write it to. */
export function pushConstant(): usize {
  count++
  return topConstant()
}

export function dropConstants(dropped: u32): void {
  count -= dropped
}

/** Returns whether the constant on top is at most `most`, a u64. */
export function topIsAtMost(most: u64): bool {
  const top = topConstant()
  return count > 0 && (load<u64>(top, 8) | load<u64>(top, 16) | load<u64>(top, 24)) === 0 && load<u64>(top) <= most
}

/** Returns whether the shortest push instruction can encode a constant. */
export function isShort(word: usize): bool {
  return (load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) === 0 && load<u64>(word) <= 0xffff
}

/** Returns whether all bits above the lowest 16 are one. */
function isNearlyFull(word: usize): bool {
  return (load<u64>(word, 8) & load<u64>(word, 16) & load<u64>(word, 24)) === u64.MAX_VALUE && load<u64>(word) >= 0xffffffffffff0000
}

/** Writes instructions that push all constants. @returns the end of the stream */
export function writeConstants(to: usize): usize {
  let out = to
  for (let i: u32 = 1; i <= count; i++) out = writePush(out, bottom + (<usize>i << 5))
  count = 0
  return out
}

function writePush(out: usize, word: usize): usize {
  if (isShort(word)) {
    store<u16>(out, opPushShort)
    store<u16>(out, load<u16>(word), 2)
    return out + 4
  }
  if ((load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) === 0) {
    store<u16>(out, opPushLong)
    store<u64>(out, load<u64>(word), 2)
    return out + 10
  }
  if (isNearlyFull(word)) {
    store<u16>(out, opPushNegative)
    store<u16>(out, load<u16>(word), 2)
    return out + 4
  }
  store<u16>(out, opPushWord)
  copyWord(out + 2, word)
  return out + 34
}
