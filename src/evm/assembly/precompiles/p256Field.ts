// Numbers modulo p = 2^256 − 2^224 + 2^192 + 2^96 − 1, the field of P-256.
//
// An element is nine signed limbs of 29 bits in i64, least significant first, in Montgomery form (times 2^261). After `mul`, limbs 0…7 are in [0,
// 2^29);
// after a sum or difference they may be slightly outside. The top limb carries the sign. Values stay within some multiples of p and are
// made unique only for comparison. Limb products are added without carries: nine of them stay below 2^63 while one factor's
// limbs are below 2^29 and the other's below 2^30.

/** Bytes of an element. */
export const elementBytes: usize = 72
const limbBits: i64 = 29
const mask: i64 = 0x1fffffff

/** The number one, not in Montgomery form. A product with it takes an element out of that form. */
const plainOne: usize = memory.data(72)
const reduced: usize = memory.data(72)
/** 2^522 mod p. A product with it brings a number into Montgomery form. */
const intoForm: usize = memory.data(72)

/** Initializes the constants. Must run before any other function here. */
export function beginField(): void {
  setWords(plainOne, 0, 0, 0, 1)
  setWords(intoForm, 0x000013fffffff7ff, 0xfffffffffffffbff, 0xffffeffffffffc00, 0x0000000000000c00)
}

/** Sets the limbs of a number given as four 64-bit words, most significant first. */
export function setWords(to: usize, w3: u64, w2: u64, w1: u64, w0: u64): void {
  store<u64>(to, w0 & mask)
  store<u64>(to, (w0 >> 29) & mask, 8)
  store<u64>(to, ((w0 >> 58) | (w1 << 6)) & mask, 16)
  store<u64>(to, (w1 >> 23) & mask, 24)
  store<u64>(to, ((w1 >> 52) | (w2 << 12)) & mask, 32)
  store<u64>(to, (w2 >> 17) & mask, 40)
  store<u64>(to, ((w2 >> 46) | (w3 << 18)) & mask, 48)
  store<u64>(to, (w3 >> 11) & mask, 56)
  store<u64>(to, w3 >> 40, 64)
}

/** Sets an element from 32 big-endian bytes of a number below p. */
export function setBytes(to: usize, from: usize): void {
  setWords(to, bswap(load<u64>(from)), bswap(load<u64>(from, 8)), bswap(load<u64>(from, 16)), bswap(load<u64>(from, 24)))
  mul(to, to, intoForm)
}

/** Sets an element like `setBytes`, from four words. */
export function setNumber(to: usize, w3: u64, w2: u64, w1: u64, w0: u64): void {
  setWords(to, w3, w2, w1, w0)
  mul(to, to, intoForm)
}

export function copy(to: usize, from: usize): void {
  memory.copy(to, from, elementBytes)
}

/**
 * a · b / 2^261. Because p = −1 modulo 2^96, the multiple of p that clears a limb is the limb itself, and adding it needs shifts only:
 * bits 96, 192, 224 and 256 are bit 9 of limb 3, 18 of limb 6, 21 of limb 7, 24 of limb 8.
 */
export function mul(to: usize, a: usize, b: usize): void {
  const a0 = load<i64>(a)
  const a1 = load<i64>(a, 8)
  const a2 = load<i64>(a, 16)
  const a3 = load<i64>(a, 24)
  const a4 = load<i64>(a, 32)
  const a5 = load<i64>(a, 40)
  const a6 = load<i64>(a, 48)
  const a7 = load<i64>(a, 56)
  const a8 = load<i64>(a, 64)
  let t0: i64 = 0
  let t1: i64 = 0
  let t2: i64 = 0
  let t3: i64 = 0
  let t4: i64 = 0
  let t5: i64 = 0
  let t6: i64 = 0
  let t7: i64 = 0
  let t8: i64 = 0
  for (let i: usize = 0; i < elementBytes; i += 8) {
    const digit = load<i64>(b + i)
    t0 += a0 * digit
    const m = t0 & mask
    t0 = t1 + a1 * digit + (t0 >> limbBits)
    t1 = t2 + a2 * digit
    t2 = t3 + a3 * digit + (m << 9)
    t3 = t4 + a4 * digit
    t4 = t5 + a5 * digit
    t5 = t6 + a6 * digit + (m << 18)
    t6 = t7 + a7 * digit - (m << 21)
    t7 = t8 + a8 * digit + (m << 24)
    t8 = 0
  }
  storeCarried(to, t0, t1, t2, t3, t4, t5, t6, t7, t8)
}

function storeCarried(to: usize, t0: i64, t1: i64, t2: i64, t3: i64, t4: i64, t5: i64, t6: i64, t7: i64, t8: i64): void {
  store<i64>(to, t0 & mask)
  t1 += t0 >> limbBits
  store<i64>(to, t1 & mask, 8)
  t2 += t1 >> limbBits
  store<i64>(to, t2 & mask, 16)
  t3 += t2 >> limbBits
  store<i64>(to, t3 & mask, 24)
  t4 += t3 >> limbBits
  store<i64>(to, t4 & mask, 32)
  t5 += t4 >> limbBits
  store<i64>(to, t5 & mask, 40)
  t6 += t5 >> limbBits
  store<i64>(to, t6 & mask, 48)
  t7 += t6 >> limbBits
  store<i64>(to, t7 & mask, 56)
  store<i64>(to, t8 + (t7 >> limbBits), 64)
}

/** a − b, or a + b, without carries: each limb is the sum or difference of the two limbs. */
export function subtract(to: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < elementBytes; i += 8) store<i64>(to + i, load<i64>(a + i) - load<i64>(b + i))
}

export function add(to: usize, a: usize, b: usize): void {
  for (let i: usize = 0; i < elementBytes; i += 8) store<i64>(to + i, load<i64>(a + i) + load<i64>(b + i))
}

/**
 * Computes 2^shiftA · a − 2^shiftB · b, reduced to between about 0 and p. Each limb passes its carry to the next limb once, so limbs may be a few
 * units out of range. The part above bit 256 is reduced with 2^256 = 2^224 − 2^192 − 2^96 + 1.
 */
export function combine(to: usize, a: usize, shiftA: i64, b: usize, shiftB: i64): void {
  const c0 = limb(a, shiftA, b, shiftB)
  const c1 = limb(a + 8, shiftA, b + 8, shiftB)
  const c2 = limb(a + 16, shiftA, b + 16, shiftB)
  const c3 = limb(a + 24, shiftA, b + 24, shiftB)
  const c4 = limb(a + 32, shiftA, b + 32, shiftB)
  const c5 = limb(a + 40, shiftA, b + 40, shiftB)
  const c6 = limb(a + 48, shiftA, b + 48, shiftB)
  const c7 = limb(a + 56, shiftA, b + 56, shiftB)
  const c8 = limb(a + 64, shiftA, b + 64, shiftB) + (c7 >> limbBits)
  const over = c8 >> 24
  store<i64>(to, (c0 & mask) + over)
  store<i64>(to, (c1 & mask) + (c0 >> limbBits), 8)
  store<i64>(to, (c2 & mask) + (c1 >> limbBits), 16)
  store<i64>(to, (c3 & mask) + (c2 >> limbBits) - (over << 9), 24)
  store<i64>(to, (c4 & mask) + (c3 >> limbBits), 32)
  store<i64>(to, (c5 & mask) + (c4 >> limbBits), 40)
  store<i64>(to, (c6 & mask) + (c5 >> limbBits) - (over << 18), 48)
  store<i64>(to, (c7 & mask) + (c6 >> limbBits) + (over << 21), 56)
  store<i64>(to, c8 & 0xffffff, 64)
}

// @ts-ignore: the compiler's decorator
@inline
function limb(a: usize, shiftA: i64, b: usize, shiftB: i64): i64 {
  return (load<i64>(a) << shiftA) - (load<i64>(b) << shiftB)
}

/** Returns whether a is a multiple of p. Outside Montgomery form the number is from 0 to p, so a multiple is 0 or p itself. */
export function isZero(a: usize): bool {
  mul(reduced, a, plainOne)
  let any: u64 = 0
  for (let i: usize = 0; i < elementBytes; i += 8) any |= load<u64>(reduced + i)
  return any == 0 || isPrime(reduced)
}

function isPrime(a: usize): bool {
  let differs = (load<u64>(a) ^ mask) | (load<u64>(a, 8) ^ mask) | (load<u64>(a, 16) ^ mask) | (load<u64>(a, 24) ^ 0x1ff)
  differs |= load<u64>(a, 32) | load<u64>(a, 40) | (load<u64>(a, 48) ^ 0x40000)
  return (differs | (load<u64>(a, 56) ^ 0x1fe00000) | (load<u64>(a, 64) ^ 0xffffff)) == 0
}
