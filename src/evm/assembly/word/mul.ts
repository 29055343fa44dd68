// Multiplication; word.ts defines a word. WebAssembly has no 64 × 64 → 128 bit product, so it is composed of four 32-bit products.
import { setLimbs } from './compare'

/** Returns the high 64 bits of a product. */
// @ts-ignore: decorator
@inline
export function mulHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff
  const aHigh = a >>> 32
  const bLow = b & 0xffffffff
  const bHigh = b >>> 32
  const middle = aHigh * bLow + ((aLow * bLow) >>> 32)
  const other = aLow * bHigh + (middle & 0xffffffff)
  return aHigh * bHigh + (middle >>> 32) + (other >>> 32)
}

/** Returns 1 when a sum is below one of its addends, which means it overflowed 2^64. */
// @ts-ignore: decorator
@inline
export function carry(sum: u64, addend: u64): u64 {
  return u64(sum < addend)
}

/** to = a × b modulo 2^256 for b of one limb. */
function multiplyByLimb(to: usize, a0: u64, a1: u64, a2: u64, a3: u64, b: u64): void {
  const low1 = a1 * b
  const column1 = mulHigh(a0, b) + low1
  const low2 = a2 * b
  const above1 = mulHigh(a1, b) + carry(column1, low1)
  const column2 = above1 + low2
  setLimbs(to, a0 * b, column1, column2, mulHigh(a2, b) + a3 * b + carry(column2, low2))
}

/** to = a × b modulo 2^256; `to` may be a or b. */
export function multiply(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const b2 = load<u64>(b, 16)
  const b3 = load<u64>(b, 24)
  if ((a1 | a2 | a3) == 0) {
    if ((b1 | b2 | b3) == 0) return setLimbs(to, a0 * b0, mulHigh(a0, b0), 0, 0)
    return multiplyByLimb(to, b0, b1, b2, b3, a0)
  }
  if ((b1 | b2 | b3) == 0) return multiplyByLimb(to, a0, a1, a2, a3, b0)
  let low = a0 * b1
  let column1 = mulHigh(a0, b0) + low
  let column2 = carry(column1, low)
  low = a1 * b0
  column1 += low
  column2 += carry(column1, low)
  store<u64>(to, a0 * b0)
  store<u64>(to, column1, 8)
  let term = mulHigh(a0, b1)
  column2 += term
  let column3 = carry(column2, term)
  term = mulHigh(a1, b0)
  column2 += term
  column3 += carry(column2, term)
  term = a1 * b1
  column2 += term
  column3 += carry(column2, term) + mulHigh(a1, b1)
  if ((a2 | a3 | b2 | b3) == 0) {
    // Both factors are below 2^128, so the product is complete.
  } else if (((a2 ^ a3) | (b2 ^ b3)) == 0 && a2 + 1 < 2 && b2 + 1 < 2) {
    // A negative factor above -2^128 has upper limbs of all ones: subtract the other factor times 2^128.
    term = b0 & a2
    column3 -= (b1 & a2) + u64(column2 < term)
    column2 -= term
    term = a0 & b2
    column3 -= (a1 & b2) + u64(column2 < term)
    column2 -= term
  } else {
    term = a0 * b2
    column2 += term
    column3 += carry(column2, term) + mulHigh(a0, b2)
    term = a2 * b0
    column2 += term
    column3 += carry(column2, term) + mulHigh(a2, b0)
    column3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
  }
  store<u64>(to, column2, 16)
  store<u64>(to, column3, 24)
}

/** to = a × a modulo 2^256; `to` may be a. */
export function square(to: usize, a: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  if ((a1 | a2 | a3) == 0) return setLimbs(to, a0 * a0, mulHigh(a0, a0), 0, 0)
  const low01 = a0 * a1
  let twice = low01 << 1
  const column1 = mulHigh(a0, a0) + twice
  let column2 = carry(column1, twice) + (low01 >>> 63)
  const high01 = mulHigh(a0, a1)
  twice = high01 << 1
  column2 += twice
  let column3 = carry(column2, twice) + (high01 >>> 63)
  const low02 = a0 * a2
  twice = low02 << 1
  column2 += twice
  column3 += carry(column2, twice) + (low02 >>> 63)
  const low11 = a1 * a1
  column2 += low11
  column3 += carry(column2, low11) + mulHigh(a1, a1) + ((mulHigh(a0, a2) + a0 * a3 + a1 * a2) << 1)
  setLimbs(to, a0 * a0, column1, column2, column3)
}

// @ts-ignore: decorator
@inline
export function mul(sp: usize): void {
  multiply(sp - 32, sp, sp - 32)
}
