// Division; word.ts defines a word. Schoolbook division by 64-bit digits. Each digit is found with a reciprocal of the divisor's highest
// one or two limbs (Möller and Granlund, 2011). Divisor and dividend are shifted so that the divisor's highest bit is set.
import { negate } from './add'
import { joinLeft, joinRight, shiftRight } from './bits'
import { below, copyWord, setLimbs, setSmall, zero } from './compare'
import { carry, mulHigh } from './mul'
import { reciprocalOf, reciprocalOfTwo } from './reciprocal'

/** Quotient of the last division; limbs above its highest digit are undefined. */
const quotients: usize = memory.data(64, 16)

/** Returns the number of limbs at x, of `limbs`, up to the highest non-zero limb. */
function significant(x: usize, limbs: i32): i32 {
  while (limbs > 0 && load<u64>(x + ((limbs - 1) << 3)) == 0) limbs--
  return limbs
}

/** Divides x, of at least two limbs, by a non-zero divisor of one limb. Returns the remainder; `limbs` limbs of quotient go to q, which is not x. */
function divideByOne(q: usize, x: usize, limbs: i32, divisor: u64): u64 {
  const bits = i64.clz(divisor)
  const d = divisor << bits
  const v = reciprocalOf(d)
  let at = x + ((limbs - 1) << 3)
  let to = q + ((limbs - 1) << 3)
  let above = load<u64>(at)
  let rest = joinLeft(0, above, bits)
  if (above < divisor) {
    // The first digit is 0.
    store<u64>(to, 0)
    at -= 8
    to -= 8
    const next = load<u64>(at)
    rest = joinLeft(above, next, bits)
    above = next
  }
  for (; at >= x; at -= 8, to -= 8) {
    const next = at > x ? load<u64>(at - 8) : 0
    const limb = joinLeft(above, next, bits)
    above = next
    const low = v * rest + limb
    let digit = mulHigh(v, rest) + rest + 1 + carry(low, limb)
    rest = limb - digit * d
    const over = 0 - u64(rest > low)
    digit += over
    rest += over & d
    if (rest >= d) {
      digit++
      rest -= d
    }
    store<u64>(to, digit)
  }
  return rest >>> bits
}

/** Divides x, of at least two limbs, by divisor1:divisor0. The remainder goes to r. */
function divideByTwo(r: usize, x: usize, limbs: i32, divisor1: u64, divisor0: u64): void {
  const bits = i64.clz(divisor1)
  const d1 = joinLeft(divisor1, divisor0, bits)
  const d0 = divisor0 << bits
  const v = reciprocalOfTwo(d1, d0)
  let at = x + ((limbs - 2) << 3)
  let to = quotients + ((limbs - 2) << 3)
  let above = load<u64>(at)
  let r1 = joinLeft(0, load<u64>(at, 8), bits)
  let r0 = joinLeft(load<u64>(at, 8), above, bits)
  if (at > x && r1 == 0 && r0 < d1) {
    // The first digit is 0.
    store<u64>(to, 0)
    at -= 8
    to -= 8
    const next = load<u64>(at)
    r1 = r0
    r0 = joinLeft(above, next, bits)
    above = next
  }
  for (; at >= x; at -= 8, to -= 8) {
    const next = at > x ? load<u64>(at - 8) : 0
    const limb = joinLeft(above, next, bits)
    above = next
    const low = v * r1 + r0
    let digit = mulHigh(v, r1) + r1 + carry(low, r0)
    const taken = d0 * digit
    let s0 = limb - taken
    let s1 = r0 - digit * d1 - mulHigh(d0, digit) - u64(limb < taken) - d1 - u64(s0 < d0)
    s0 -= d0
    digit++
    const over = 0 - u64(s1 >= low)
    digit += over
    s0 += over & d0
    s1 += (over & d1) + carry(s0, over & d0)
    if (s1 > d1 || (s1 == d1 && s0 >= d0)) {
      digit++
      s1 -= d1 + u64(s0 < d0)
      s0 -= d0
    }
    store<u64>(to, digit)
    r1 = s1
    r0 = s0
  }
  setLimbs(r, joinRight(r1, r0, bits), r1 >>> bits, 0, 0)
}

/** Divides x, of at least three limbs, by a divisor of three limbs. The remainder goes to r. */
function divideByThree(r: usize, x: usize, limbs: i32, n: usize): void {
  const low0 = load<u64>(n)
  const low1 = load<u64>(n, 8)
  const bits = i64.clz(load<u64>(n, 16))
  const n2 = joinLeft(load<u64>(n, 16), low1, bits)
  const n1 = joinLeft(low1, low0, bits)
  const n0 = low0 << bits
  const v = reciprocalOfTwo(n2, n1)
  let at = x + ((limbs - 3) << 3)
  let to = quotients + ((limbs - 3) << 3)
  let above = load<u64>(at)
  let r2 = joinLeft(0, load<u64>(at, 16), bits)
  let r1 = joinLeft(load<u64>(at, 16), load<u64>(at, 8), bits)
  let r0 = joinLeft(load<u64>(at, 8), above, bits)
  if (at > x && r2 == 0 && r1 < n2) {
    // The first digit is 0.
    store<u64>(to, 0)
    at -= 8
    to -= 8
    const next = load<u64>(at)
    r2 = r1
    r1 = r0
    r0 = joinLeft(above, next, bits)
    above = next
  }
  for (; at >= x; at -= 8, to -= 8) {
    const next = at > x ? load<u64>(at - 8) : 0
    const limb = joinLeft(above, next, bits)
    above = next
    if (r2 == n2 && r1 == n1) {
      // The digit is 2^64 - 1; the remainder is n + limb - 2^64 × (n - rest), where n - rest has one limb.
      store<u64>(to, <u64>-1)
      const e = n0 - r0
      r0 = n0 + limb
      const up = carry(r0, limb)
      r1 = n1 - e + up
      r2 = n2 - u64(n1 < e) + carry(r1, up)
      continue
    }
    const low = v * r2 + r1
    let digit = mulHigh(v, r2) + r2 + carry(low, r1)
    const taken = n1 * digit
    let s0 = r0 - taken
    let s1 = r1 - digit * n2 - mulHigh(n1, digit) - u64(r0 < taken) - n2 - u64(s0 < n1)
    s0 -= n1
    digit++
    const over = 0 - u64(s1 >= low)
    digit += over
    s0 += over & n1
    s1 += (over & n2) + carry(s0, over & n1)
    if (s1 > n2 || (s1 == n2 && s0 >= n1)) {
      digit++
      s1 -= n2 + u64(s0 < n1)
      s0 -= n1
    }
    const p0 = digit * n0
    const p1 = mulHigh(digit, n0)
    const t1 = s0 - p1
    const borrow0 = u64(limb < p0)
    const borrow1 = u64(s0 < p1) | u64(t1 < borrow0)
    r0 = limb - p0
    r1 = t1 - borrow0
    r2 = s1 - borrow1
    if (s1 < borrow1) {
      digit--
      r0 += n0
      const c0 = carry(r0, n0)
      const u1 = r1 + n1
      r1 = u1 + c0
      r2 += n2 + (carry(u1, n1) | carry(r1, c0))
    }
    store<u64>(to, digit)
  }
  setLimbs(r, joinRight(r1, r0, bits), joinRight(r2, r1, bits), r2 >>> bits, 0)
}

/** Divides x, of at least four limbs, by a divisor of four limbs. The remainder goes to r. */
function divideByFour(r: usize, x: usize, limbs: i32, n: usize): void {
  const low0 = load<u64>(n)
  const low1 = load<u64>(n, 8)
  const low2 = load<u64>(n, 16)
  const bits = i64.clz(load<u64>(n, 24))
  const n3 = joinLeft(load<u64>(n, 24), low2, bits)
  const n2 = joinLeft(low2, low1, bits)
  const n1 = joinLeft(low1, low0, bits)
  const n0 = low0 << bits
  const v = reciprocalOfTwo(n3, n2)
  let at = x + ((limbs - 4) << 3)
  let to = quotients + ((limbs - 4) << 3)
  let above = load<u64>(at)
  let r3 = joinLeft(0, load<u64>(at, 24), bits)
  let r2 = joinLeft(load<u64>(at, 24), load<u64>(at, 16), bits)
  let r1 = joinLeft(load<u64>(at, 16), load<u64>(at, 8), bits)
  let r0 = joinLeft(load<u64>(at, 8), above, bits)
  if (at > x && r3 == 0 && r2 < n3) {
    // The first digit is 0.
    store<u64>(to, 0)
    at -= 8
    to -= 8
    const next = load<u64>(at)
    r3 = r2
    r2 = r1
    r1 = r0
    r0 = joinLeft(above, next, bits)
    above = next
  }
  for (; at >= x; at -= 8, to -= 8) {
    const next = at > x ? load<u64>(at - 8) : 0
    const limb = joinLeft(above, next, bits)
    above = next
    if (r3 == n3 && r2 == n2) {
      // The digit is 2^64 - 1; the remainder is n + limb - 2^64 × (n - rest), where n - rest has two limbs.
      store<u64>(to, <u64>-1)
      const e0 = n0 - r0
      const e1 = n1 - r1 - u64(n0 < r0)
      const t1 = n1 - e0
      const t2 = n2 - e1
      const down = u64(n1 < e0)
      const s2 = t2 - down
      r0 = n0 + limb
      const up = carry(r0, limb)
      r1 = t1 + up
      const up1 = carry(r1, up)
      r2 = s2 + up1
      r3 = n3 - u64(n2 < e1) - u64(t2 < down) + carry(r2, up1)
      continue
    }
    const low = v * r3 + r2
    let digit = mulHigh(v, r3) + r3 + carry(low, r2)
    const taken = n2 * digit
    let s0 = r1 - taken
    let s1 = r2 - digit * n3 - mulHigh(n2, digit) - u64(r1 < taken) - n3 - u64(s0 < n2)
    s0 -= n2
    digit++
    const over = 0 - u64(s1 >= low)
    digit += over
    s0 += over & n2
    s1 += (over & n3) + carry(s0, over & n2)
    if (s1 > n3 || (s1 == n3 && s0 >= n2)) {
      digit++
      s1 -= n3 + u64(s0 < n2)
      s0 -= n2
    }
    const p0 = digit * n0
    const p1Low = digit * n1
    const p1 = mulHigh(digit, n0) + p1Low
    const p2 = mulHigh(digit, n1) + carry(p1, p1Low)
    const t1 = r0 - p1
    const borrow0 = u64(limb < p0)
    const borrow1 = u64(r0 < p1) | u64(t1 < borrow0)
    const t2 = s0 - p2
    const borrow2 = u64(s0 < p2) | u64(t2 < borrow1)
    r0 = limb - p0
    r1 = t1 - borrow0
    r2 = t2 - borrow1
    r3 = s1 - borrow2
    if (s1 < borrow2) {
      digit--
      r0 += n0
      const c0 = carry(r0, n0)
      const u1 = r1 + n1
      r1 = u1 + c0
      const c1 = carry(u1, n1) | carry(r1, c0)
      const u2 = r2 + n2
      r2 = u2 + c1
      r3 += n3 + (carry(u2, n2) | carry(r2, c1))
    }
    store<u64>(to, digit)
  }
  setLimbs(r, joinRight(r1, r0, bits), joinRight(r2, r1, bits), joinRight(r3, r2, bits), r3 >>> bits)
}

/** Divides `limbs` limbs at x, 4 to 8, by a non-zero word n. The remainder goes to the word r, which may be n; the quotient goes to `quotients`. */
export function divideLimbs(r: usize, x: usize, limbs: i32, n: usize): void {
  const used = significant(x, limbs)
  const n0 = load<u64>(n)
  const n1 = load<u64>(n, 8)
  if ((load<u64>(n, 16) | load<u64>(n, 24)) != 0) {
    if (load<u64>(n, 24) == 0) return used < 3 ? copyWord(r, x) : divideByThree(r, x, used, n)
    return used < 4 ? copyWord(r, x) : divideByFour(r, x, used, n)
  }
  if (n1 != 0) return used < 2 ? copyWord(r, x) : divideByTwo(r, x, used, n1, n0)
  if (used > 1) return setSmall(r, divideByOne(quotients, x, used, n0))
  const limb = load<u64>(x)
  store<u64>(quotients, limb / n0)
  setSmall(r, limb % n0)
}

/** Returns whether a word has at most one bit set. */
// @ts-ignore: decorator
@inline
export function singleBit(n: usize): bool {
  const bits = i64.popcnt(load<u64>(n)) + i64.popcnt(load<u64>(n, 8)) + i64.popcnt(load<u64>(n, 16)) + i64.popcnt(load<u64>(n, 24))
  return bits <= 1
}

/** Returns the index of the lowest set bit of a non-zero word. */
function lowestBit(p: usize): u64 {
  let bit: u64 = 0
  while (load<u64>(p) == 0) {
    p += 8
    bit += 64
  }
  return bit + i64.ctz(load<u64>(p))
}

/** Sets n to x modulo n, for n a power of two. */
export function lowBits(n: usize, x: usize): void {
  const n0 = load<u64>(n)
  const n1 = load<u64>(n, 8)
  const n2 = load<u64>(n, 16)
  const n3 = load<u64>(n, 24)
  const above0 = u64(n0 == 0)
  const above1 = above0 & u64(n1 == 0)
  const above2 = above1 & u64(n2 == 0)
  setLimbs(
    n,
    load<u64>(x) & (n0 - 1),
    load<u64>(x, 8) & (n1 - above0),
    load<u64>(x, 16) & (n2 - above1),
    load<u64>(x, 24) & (n3 - above2),
  )
}

/** Returns whether all limbs of x above the first are 0. */
// @ts-ignore: decorator
@inline
function isOneLimb(x: usize): bool {
  return (load<u64>(x, 8) | load<u64>(x, 16) | load<u64>(x, 24)) == 0
}

/** Sets the word at p, whose value is a divisor of one limb, to x / divisor. */
function divideWord(p: usize, x: usize, divisor: u64): void {
  if (divisor == 0) return
  if (isOneLimb(x)) return store<u64>(p, load<u64>(x) / divisor)
  if ((divisor & (divisor - 1)) == 0) {
    copyWord(p, x)
    return shiftRight(p, i64.ctz(divisor), 0)
  }
  zero(p)
  divideByOne(p, x, significant(x, 4), divisor)
}

export function div(sp: usize): void {
  const p = sp - 32
  if (isOneLimb(p)) return divideWord(p, sp, load<u64>(p))
  if (below(sp, p)) return zero(p)
  if (singleBit(p)) {
    const bit = lowestBit(p)
    copyWord(p, sp)
    return shiftRight(p, bit, 0)
  }
  zero(quotients)
  divideLimbs(p, sp, 4, p)
  copyWord(p, quotients)
}

export function mod(sp: usize): void {
  const p = sp - 32
  if (isOneLimb(p)) {
    const divisor = load<u64>(p)
    if (divisor == 0) return
    const low = load<u64>(sp)
    if (isOneLimb(sp)) return store<u64>(p, low % divisor)
    if ((divisor & (divisor - 1)) == 0) return store<u64>(p, low & (divisor - 1))
    return store<u64>(p, divideByOne(quotients, sp, significant(sp, 4), divisor))
  }
  if (below(sp, p)) return copyWord(p, sp)
  if (singleBit(p)) return lowBits(p, sp)
  divideLimbs(p, sp, 4, p)
}

export function sdiv(sp: usize): void {
  const p = sp - 32
  const sign = load<i64>(sp, 24)
  const differ = (sign ^ load<i64>(p, 24)) < 0
  if (sign < 0) negate(sp)
  if (load<i64>(p, 24) < 0) negate(p)
  div(sp)
  if (differ) negate(p)
}

export function smod(sp: usize): void {
  const p = sp - 32
  const sign = load<i64>(sp, 24)
  if (sign < 0) negate(sp)
  if (load<i64>(p, 24) < 0) negate(p)
  mod(sp)
  if (sign < 0) negate(p)
}
