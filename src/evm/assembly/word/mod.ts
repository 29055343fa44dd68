// ADDMOD and MULMOD. word.ts defines a word.
import { addTo, subFrom } from './add'
import { below, copyWord, equal, isZero } from './compare'
import { divideLimbs, lowBits, singleBit } from './div'
import { isKnownModulus, multiplyKnown, multiplyKnownSmall, squareKnown } from './fold'
import { multiplyFull } from './mulFull'

/** A sum of up to five limbs or a product of up to eight. */
const whole: usize = memory.data(64, 16)

/** (a + b) % n in full precision: a on top, the modulus third; 0 for a modulus of 0. */
export function addmod(sp: usize): void {
  const b = sp - 32
  const n = sp - 64
  if (below(sp, n) && below(b, n)) {
    const over = addTo(b, sp)
    if (over || !below(b, n)) subFrom(b, n)
    return copyWord(n, b)
  }
  if (isZero(n)) return
  copyWord(whole, b)
  store<u64>(whole, u64(addTo(whole, sp)), 32)
  if (singleBit(n)) return lowBits(n, whole)
  divideLimbs(n, whole, 5, n)
}

/** Returns whether a word is below 2^16. */
// @ts-ignore: decorator
@inline
function below16(p: usize): bool {
  return ((load<u64>(p) >>> 16) | load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) == 0
}

/** (a × b) % n in full precision: a on top, the modulus third; 0 for a modulus of 0. */
export function mulmod(sp: usize): void {
  const n = sp - 64
  const n3 = load<u64>(n, 24)
  if (n3 >= 0x1000000000000) {
    if ((n3 & load<u64>(n, 16) & load<u64>(n, 8) & load<u64>(n)) == <u64>-1) return multiplyOnes(n, sp, sp - 32)
    if (isKnownModulus(n)) {
      if (below16(sp)) return multiplyKnownSmall(n, sp - 32, load<u64>(sp))
      if (below16(sp - 32)) return multiplyKnownSmall(n, sp, load<u64>(sp - 32))
      return equal(sp, sp - 32) ? squareKnown(n, sp) : multiplyKnown(n, sp, sp - 32)
    }
  }
  if (isZero(n)) return
  multiplyFull(whole, sp, sp - 32)
  if (singleBit(n)) return lowBits(n, whole)
  divideLimbs(n, whole, 8, n)
}

/** to = a × b modulo 2^256 - 1, a modulus that contracts use for full-precision multiplication; `to` holds 2^256 - 1. */
function multiplyOnes(to: usize, a: usize, b: usize): void {
  multiplyFull(whole, a, b)
  const over = addTo(whole, whole + 32)
  // Add one when the sum exceeded 2^256 - 1. The value 2^256 - 1 itself becomes 0.
  if (over || equal(whole, to)) increment(whole)
  copyWord(to, whole)
}

/** Adds 1 modulo 2^256. */
function increment(p: usize): void {
  for (let at = p; at < p + 32; at += 8) {
    const limb = load<u64>(at) + 1
    store<u64>(at, limb)
    if (limb != 0) return
  }
}
