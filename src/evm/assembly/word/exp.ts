// EXP by squaring and multiplying. word.ts defines a word.
import { copyWord, isZero, setLimbs, zero } from './compare'
import { multiply, square } from './mul'

/** The base, saved because the result overwrites it. */
const kept: usize = memory.data(32, 16)

/** Sets a word to 2^bit, for a bit from 0 to 255. */
function setBit(p: usize, bit: u64): void {
  zero(p)
  store<u64>(p + usize((bit >>> 6) << 3), <u64>1 << (bit & 63))
}

/** Returns the index of the highest set bit of a non-zero word. */
function highestBit(p: usize): i32 {
  let at: i32 = 3
  while (at > 0 && load<u64>(p + (at << 3)) == 0) at--
  return (at << 6) + 63 - i32(i64.clz(load<u64>(p + (at << 3))))
}

/** Executes EXP: base on top, exponent below. */
export function exp(sp: usize): void {
  const p = sp - 32
  if (isZero(p)) return setLimbs(p, 1, 0, 0, 0)
  const exponent = load<u64>(p)
  const large = (load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) != 0 || exponent >= 256
  const low = load<u64>(sp)
  const upper = load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)
  if ((low & 1) == 0) {
    if (large) return zero(p)
    if (upper == 0 && (low & (low - 1)) == 0) {
      const bit = i64.ctz(low) * exponent
      return low == 0 || bit >= 256 ? zero(p) : setBit(p, bit)
    }
  }
  power(p, sp)
}

/** Replaces the exponent at p, at least 1, by base ** exponent. */
function power(p: usize, base: usize): void {
  copyWord(kept, base)
  for (let bit = highestBit(p) - 1; bit >= 0; bit--) {
    square(kept, kept)
    if (((load<u64>(p + ((bit >>> 6) << 3)) >>> u64(bit & 63)) & 1) != 0) multiply(kept, kept, base)
  }
  copyWord(p, kept)
}
