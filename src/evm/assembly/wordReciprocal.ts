// Reciprocals of 64-bit and 128-bit divisors, so that a division is two multiplications.
// Source: N. Möller, T. Granlund, "Improved division by invariant integers", 2011. The first approximation here is by floating point.
import { carry, mulHigh } from './wordMul'

/** Last divisors (the highest limbs, normalised) and their reciprocals: programs divide by the same number again and again. */
const oneKey: usize = memory.data(16, 16)
const twoKey: usize = memory.data(24, 16)

/** floor((2^128 - 1) / d) - 2^64, for d with its highest bit set. */
function reciprocal(d: u64): u64 {
  const high = f64(i64(d >>> 11))
  // 2^115 / (d / 2^11) is a quarter of the wanted 2^128 / d, at most 2^63 and good to 52 bits.
  const inverse = min<f64>(41538374868278621028243970633760768.0 / high, 9223372036854774784.0)
  let v = u64(i64(inverse)) << 2
  // What is left: 2^128 - 1 - (2^64 + v) × d, a signed number of less than 80 bits.
  let restHigh = ~(mulHigh(v, d) + d)
  let rest = ~(v * d)
  // 2^53 / d, times what is left; less one, so that it is short by 0 to 2 and what is left then is from 0 up.
  const step = i64(Math.floor((f64(i64((restHigh << 11) | (rest >>> 53))) * 4398046511104.0) / high)) - 1
  v += u64(step)
  const taken = u64(step) * d
  restHigh -= mulHigh(u64(step), d) - (u64(step >> 63) & d) + u64(rest < taken)
  rest -= taken
  while (restHigh != 0 || rest >= d) {
    v++
    restHigh -= u64(rest < d)
    rest -= d
  }
  return v
}

/** The reciprocal of a divisor of one limb whose highest bit is set. */
export function reciprocalOf(d: u64): u64 {
  if (load<u64>(oneKey) == d) return load<u64>(oneKey, 8)
  const v = reciprocal(d)
  store<u64>(oneKey, d)
  store<u64>(oneKey, v, 8)
  return v
}

/** floor((2^192 - 1) / (d1:d0)) - 2^64, for d1 with its highest bit set. */
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
