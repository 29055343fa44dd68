// Reciprocals of 64-bit and 128-bit divisors, which replace a division by two multiplications.
// Source: N. Möller, T. Granlund, "Improved division by invariant integers", 2011. The first approximation here uses floating point.
import { carry, mulHigh } from './mul'

/**
 * Cache of divisors (highest limbs, normalised) and their reciprocals, because programs often divide by the same numbers. `ones` has 16 places,
 * selected
 * by the bits below the divisor's highest bit; `twoKey` has the last divisor of two limbs.
 */
const ones: usize = memory.data(256, 16)
const twoKey: usize = memory.data(24, 16)

/** Returns floor((2^128 - 1) / d) - 2^64, for d with its highest bit set. */
function reciprocal(d: u64): u64 {
  if (d >= 0xffffffffffff0000) return 0 - d
  // 2^115 / (d / 2^11) is a quarter of 2^128 / d, at most 2^63 and accurate to 51 bits. v is made too small, by less than 2^16.
  // too large.
  const quarter = u64(i64(min<f64>(41538374868278621028243970633760768.0 / f64(i64(d >>> 11)), 9223372036854774784.0)))
  const v = (quarter << 2) - 0x8000
  // The remainder 2^128 - 1 - (2^64 + v) × d is below 2^80 and contains d several ten thousand times. Its first 32 bits give that count, or one
  // less.
  const restHigh = ~(mulHigh(v, d) + d)
  const rest = ~(v * d)
  const step = (((restHigh << 16) | (rest >>> 48)) * ((v >>> 33) | 0x80000000)) >>> 47
  const taken = step * d
  const left = rest - taken
  const leftHigh = restHigh - ((step * (d >>> 32) + ((step * (d & 0xffffffff)) >>> 32)) >>> 32) - u64(rest < taken)
  return v + step + u64(u64(leftHigh != 0) | u64(left >= d))
}

/** Returns the reciprocal of a one-limb divisor whose highest bit is set. */
export function reciprocalOf(d: u64): u64 {
  const place = ones + (usize(d >>> 55) & 0xf0)
  if (load<u64>(place) == d) return load<u64>(place, 8)
  const v = reciprocal(d)
  store<u64>(place, d)
  store<u64>(place, v, 8)
  return v
}

/** Returns floor((2^192 - 1) / (d1:d0)) - 2^64, for d1 with its highest bit set. */
export function reciprocalOfTwo(d1: u64, d0: u64): u64 {
  if (load<u64>(twoKey, 8) == d1 && load<u64>(twoKey) == d0) return load<u64>(twoKey, 16)
  let v = reciprocal(d1)
  let p = d1 * v + d0
  if (p < d0) {
    v--
    if (p >= d1) {
      v--
      p -= d1
    }
    p -= d1
  }
  const high = mulHigh(v, d0)
  p += high
  if (carry(p, high) != 0) {
    v--
    if (p > d1 || (p == d1 && v * d0 + d0 >= d0)) v--
  }
  store<u64>(twoKey, d0)
  store<u64>(twoKey, d1, 8)
  store<u64>(twoKey, v, 16)
  return v
}
