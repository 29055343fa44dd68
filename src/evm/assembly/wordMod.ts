// ADDMOD and MULMOD: word.ts says what a word is.
import { addTo, subFrom } from './wordAdd'
import { below, copyWord, isZero } from './wordCompare'
import { divideLimbs, lowBits, singleBit } from './wordDiv'
import { multiplyFull } from './wordMul'

/** A sum of up to five limbs, a product of up to eight. */
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

/** (a × b) % n in full precision: a on top, the modulus third; 0 for a modulus of 0. */
export function mulmod(sp: usize): void {
  const n = sp - 64
  if (isZero(n)) return
  multiplyFull(whole, sp, sp - 32)
  if (singleBit(n)) return lowBits(n, whole)
  divideLimbs(n, whole, 8, n)
}
