// MULMOD by a modulus that recurs, such as that of a curve. The upper half of the product is folded onto the lower half with a
// table of powers of two modulo n. Digits have 29 bits, so that eighteen products of two digits fit a 64-bit column.
import { subFrom } from './add'
import { below, copyWord, equal } from './compare'
import { divideLimbs } from './div'
import { mulHigh } from './mul'

const mask: u64 = 0x1fffffff

/** The modulus of the tables below; 0 at the start. */
const modulus: usize = memory.data(32, 16)
/** Its nine digits. */
const digits: usize = memory.data(72, 16)
/**
 * 2^(261 + 29 j) modulo n, for j from 0 to 8: row j, nine digits of 32 bits. Layout: digits 0 and 1 of all rows, row by row, then
 * digits 2 and 3, 4 and 5, 6 and 7, 80 bytes each; digits 8 last.
 */
const powers: usize = memory.data(368, 16)
/** 2^296 / n, rounded down or slightly lower. */
const inverse: usize = memory.data(8, 16)

/** The last other modulus and how often it occurred. Building the tables costs about ten multiplications. */
const candidate: usize = memory.data(32, 16)
const sightings: usize = memory.data(8, 16)
const wantedSightings: u32 = 8

/** A power of two during table construction: five limbs. */
const power: usize = memory.data(48, 16)

/** Returns whether the tables belong to n, which is at least 2^240. Builds them for a modulus that has occurred often. */
export function isKnownModulus(n: usize): bool {
  if (equal(n, modulus)) return true
  if (!equal(n, candidate)) {
    copyWord(candidate, n)
    store<u32>(sightings, 0)
  }
  const seen = load<u32>(sightings) + 1
  store<u32>(sightings, seen)
  if (seen < wantedSightings) return false
  makeTables(n)
  return true
}

function makeTables(n: usize): void {
  copyWord(modulus, n)
  copyWord(power, n)
  store<u64>(power, 0, 32)
  for (let k: u32 = 0; k < 9; k++) store<u64>(digits + (k << 3), digit(k))
  const approximate = f64(load<u64>(n, 24)) * 18446744073709551616.0 + f64(load<u64>(n, 16))
  // 2^(296 - 128), reduced by one part in 2^50.
  store<u64>(inverse, u64((374144419156711147060143317175368453031918731001856.0 / approximate) * (1.0 - 1.0 / 1125899906842624.0)))
  store<u64>(power, 0)
  store<u64>(power, 0, 8)
  store<u64>(power, 0, 16)
  store<u64>(power, 0, 24)
  store<u64>(power, 1 << 5, 32)
  for (let row: u32 = 0; row < 9; row++) {
    divideLimbs(power, power, 5, n)
    store<u64>(power, 0, 32)
    for (let k: u32 = 0; k < 8; k++) store<u32>(powers + (k >>> 1) * 80 + (row << 3) + ((k & 1) << 2), u32(digit(k)))
    store<u32>(powers + 320 + (row << 2), u32(digit(8)))
    let carried: u64 = 0
    for (let at = power; at < power + 32; at += 8) {
      const limb = load<u64>(at)
      store<u64>(at, (limb << 29) | carried)
      carried = limb >>> 35
    }
    store<u64>(power, carried, 32)
  }
}

/** Returns digit k, 0 to 8, of the word at `power`, whose fifth limb is 0. */
function digit(k: u32): u64 {
  const bit = k * 29
  const at = power + ((bit >>> 6) << 3)
  const shift = u64(bit & 63)
  const above = shift > 35 ? load<u64>(at, 8) << (64 - shift) : 0
  return ((load<u64>(at) >>> shift) | above) & mask
}

/**
 * to = a × b modulo the known modulus; `to` may be a or b.
 * Columns use Karatsuba's identity: a_i b_j + a_j b_i = a_i b_i + a_j b_j + (a_i - a_j)(b_j - b_i). d holds a_i b_i, and t holds sums of them.
 */
export function multiplyKnown(to: usize, a: usize, b: usize): void {
  const aw0 = load<u64>(a)
  const aw1 = load<u64>(a, 8)
  const aw2 = load<u64>(a, 16)
  const aw3 = load<u64>(a, 24)
  const a0 = aw0 & mask
  const a1 = (aw0 >>> 29) & mask
  const a2 = ((aw0 >>> 58) | (aw1 << 6)) & mask
  const a3 = (aw1 >>> 23) & mask
  const a4 = ((aw1 >>> 52) | (aw2 << 12)) & mask
  const a5 = (aw2 >>> 17) & mask
  const a6 = ((aw2 >>> 46) | (aw3 << 18)) & mask
  const a7 = (aw3 >>> 11) & mask
  const a8 = aw3 >>> 40
  const bw0 = load<u64>(b)
  const bw1 = load<u64>(b, 8)
  const bw2 = load<u64>(b, 16)
  const bw3 = load<u64>(b, 24)
  const b0 = bw0 & mask
  const b1 = (bw0 >>> 29) & mask
  const b2 = ((bw0 >>> 58) | (bw1 << 6)) & mask
  const b3 = (bw1 >>> 23) & mask
  const b4 = ((bw1 >>> 52) | (bw2 << 12)) & mask
  const b5 = (bw2 >>> 17) & mask
  const b6 = ((bw2 >>> 46) | (bw3 << 18)) & mask
  const b7 = (bw3 >>> 11) & mask
  const b8 = bw3 >>> 40
  const d0 = a0 * b0
  const d1 = a1 * b1
  const d2 = a2 * b2
  const d3 = a3 * b3
  const d4 = a4 * b4
  const d5 = a5 * b5
  const d6 = a6 * b6
  const d7 = a7 * b7
  const d8 = a8 * b8
  const t01 = d0 + d1
  const t02 = t01 + d2
  const t03 = t02 + d3
  const t04 = t03 + d4
  const t05 = t04 + d5
  const t06 = t05 + d6
  const t07 = t06 + d7
  const t08 = t07 + d8
  const t18 = t08 - d0
  const t28 = t18 - d1
  const t38 = t28 - d2
  const t48 = t38 - d3
  const t58 = t48 - d4
  const t68 = t58 - d5
  const t78 = t68 - d6
  const c0 = d0
  const c1 = t01 + (a0 - a1) * (b1 - b0)
  const c2 = t02 + (a0 - a2) * (b2 - b0)
  const c3 = t03 + (a0 - a3) * (b3 - b0) + (a1 - a2) * (b2 - b1)
  const c4 = t04 + (a0 - a4) * (b4 - b0) + (a1 - a3) * (b3 - b1)
  const c5 = t05 + (a0 - a5) * (b5 - b0) + (a1 - a4) * (b4 - b1) + (a2 - a3) * (b3 - b2)
  const c6 = t06 + (a0 - a6) * (b6 - b0) + (a1 - a5) * (b5 - b1) + (a2 - a4) * (b4 - b2)
  const c7 = t07 + (a0 - a7) * (b7 - b0) + (a1 - a6) * (b6 - b1) + (a2 - a5) * (b5 - b2) + (a3 - a4) * (b4 - b3)
  const c8 = t08 + (a0 - a8) * (b8 - b0) + (a1 - a7) * (b7 - b1) + (a2 - a6) * (b6 - b2) + (a3 - a5) * (b5 - b3)
  const c9 = t18 + (a1 - a8) * (b8 - b1) + (a2 - a7) * (b7 - b2) + (a3 - a6) * (b6 - b3) + (a4 - a5) * (b5 - b4)
  const c10 = t28 + (a2 - a8) * (b8 - b2) + (a3 - a7) * (b7 - b3) + (a4 - a6) * (b6 - b4)
  const c11 = t38 + (a3 - a8) * (b8 - b3) + (a4 - a7) * (b7 - b4) + (a5 - a6) * (b6 - b5)
  const c12 = t48 + (a4 - a8) * (b8 - b4) + (a5 - a7) * (b7 - b5)
  const c13 = t58 + (a5 - a8) * (b8 - b5) + (a6 - a7) * (b7 - b6)
  const c14 = t68 + (a6 - a8) * (b8 - b6)
  const c15 = t78 + (a7 - a8) * (b8 - b7)
  const c16 = d8
  foldColumns(to, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16)
}

/** to = a × a modulo the known modulus; `to` may be a. */
export function squareKnown(to: usize, a: usize): void {
  const w0 = load<u64>(a)
  const w1 = load<u64>(a, 8)
  const w2 = load<u64>(a, 16)
  const w3 = load<u64>(a, 24)
  const a0 = w0 & mask
  const a1 = (w0 >>> 29) & mask
  const a2 = ((w0 >>> 58) | (w1 << 6)) & mask
  const a3 = (w1 >>> 23) & mask
  const a4 = ((w1 >>> 52) | (w2 << 12)) & mask
  const a5 = (w2 >>> 17) & mask
  const a6 = ((w2 >>> 46) | (w3 << 18)) & mask
  const a7 = (w3 >>> 11) & mask
  const a8 = w3 >>> 40
  const b1 = a1 << 1
  const b2 = a2 << 1
  const b3 = a3 << 1
  const b4 = a4 << 1
  const b5 = a5 << 1
  const b6 = a6 << 1
  const b7 = a7 << 1
  const b8 = a8 << 1
  const c0 = a0 * a0
  const c1 = a0 * b1
  const c2 = a0 * b2 + a1 * a1
  const c3 = a0 * b3 + a1 * b2
  const c4 = a0 * b4 + a1 * b3 + a2 * a2
  const c5 = a0 * b5 + a1 * b4 + a2 * b3
  const c6 = a0 * b6 + a1 * b5 + a2 * b4 + a3 * a3
  const c7 = a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4
  const c8 = a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * a4
  const c9 = a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5
  const c10 = a2 * b8 + a3 * b7 + a4 * b6 + a5 * a5
  const c11 = a3 * b8 + a4 * b7 + a5 * b6
  const c12 = a4 * b8 + a5 * b7 + a6 * a6
  const c13 = a5 * b8 + a6 * b7
  const c14 = a6 * b8 + a7 * a7
  const c15 = a7 * b8
  const c16 = a8 * a8
  foldColumns(to, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16)
}

/** to = the product given by its columns, modulo the known modulus. */
// @ts-ignore: decorator
@inline
function foldColumns(
  to: usize,
  c0: u64,
  c1: u64,
  c2: u64,
  c3: u64,
  c4: u64,
  c5: u64,
  c6: u64,
  c7: u64,
  c8: u64,
  c9: u64,
  c10: u64,
  c11: u64,
  c12: u64,
  c13: u64,
  c14: u64,
  c15: u64,
  c16: u64,
): void {
  // The digits above 2^261.
  let column = c8
  const low8 = column & mask
  column = c9 + (column >>> 29)
  const h0 = column & mask
  column = c10 + (column >>> 29)
  const h1 = column & mask
  column = c11 + (column >>> 29)
  const h2 = column & mask
  column = c12 + (column >>> 29)
  const h3 = column & mask
  column = c13 + (column >>> 29)
  const h4 = column & mask
  column = c14 + (column >>> 29)
  const h5 = column & mask
  column = c15 + (column >>> 29)
  const h6 = column & mask
  column = c16 + (column >>> 29)
  const h7 = column & mask
  const h8 = column >>> 29

  // Each of these digits times its power of two modulo n, in pairs of columns.
  const v0 = i32x4.splat(i32(h0))
  const v1 = i32x4.splat(i32(h1))
  const v2 = i32x4.splat(i32(h2))
  const v3 = i32x4.splat(i32(h3))
  const v4 = i32x4.splat(i32(h4))
  const v5 = i32x4.splat(i32(h5))
  const v6 = i32x4.splat(i32(h6))
  const v7 = i32x4.splat(i32(h7))
  const v8 = i32x4.splat(i32(h8))
  let fold01 = i64x2.extmul_low_i32x4_u(v0, v128.load(powers))
  fold01 = i64x2.add(fold01, i64x2.extmul_high_i32x4_u(v1, v128.load(powers)))
  fold01 = i64x2.add(fold01, i64x2.extmul_low_i32x4_u(v2, v128.load(powers, 16)))
  fold01 = i64x2.add(fold01, i64x2.extmul_high_i32x4_u(v3, v128.load(powers, 16)))
  fold01 = i64x2.add(fold01, i64x2.extmul_low_i32x4_u(v4, v128.load(powers, 32)))
  fold01 = i64x2.add(fold01, i64x2.extmul_high_i32x4_u(v5, v128.load(powers, 32)))
  fold01 = i64x2.add(fold01, i64x2.extmul_low_i32x4_u(v6, v128.load(powers, 48)))
  fold01 = i64x2.add(fold01, i64x2.extmul_high_i32x4_u(v7, v128.load(powers, 48)))
  fold01 = i64x2.add(fold01, i64x2.extmul_low_i32x4_u(v8, v128.load(powers, 64)))
  let fold23 = i64x2.extmul_low_i32x4_u(v0, v128.load(powers, 80))
  fold23 = i64x2.add(fold23, i64x2.extmul_high_i32x4_u(v1, v128.load(powers, 80)))
  fold23 = i64x2.add(fold23, i64x2.extmul_low_i32x4_u(v2, v128.load(powers, 96)))
  fold23 = i64x2.add(fold23, i64x2.extmul_high_i32x4_u(v3, v128.load(powers, 96)))
  fold23 = i64x2.add(fold23, i64x2.extmul_low_i32x4_u(v4, v128.load(powers, 112)))
  fold23 = i64x2.add(fold23, i64x2.extmul_high_i32x4_u(v5, v128.load(powers, 112)))
  fold23 = i64x2.add(fold23, i64x2.extmul_low_i32x4_u(v6, v128.load(powers, 128)))
  fold23 = i64x2.add(fold23, i64x2.extmul_high_i32x4_u(v7, v128.load(powers, 128)))
  fold23 = i64x2.add(fold23, i64x2.extmul_low_i32x4_u(v8, v128.load(powers, 144)))
  let fold45 = i64x2.extmul_low_i32x4_u(v0, v128.load(powers, 160))
  fold45 = i64x2.add(fold45, i64x2.extmul_high_i32x4_u(v1, v128.load(powers, 160)))
  fold45 = i64x2.add(fold45, i64x2.extmul_low_i32x4_u(v2, v128.load(powers, 176)))
  fold45 = i64x2.add(fold45, i64x2.extmul_high_i32x4_u(v3, v128.load(powers, 176)))
  fold45 = i64x2.add(fold45, i64x2.extmul_low_i32x4_u(v4, v128.load(powers, 192)))
  fold45 = i64x2.add(fold45, i64x2.extmul_high_i32x4_u(v5, v128.load(powers, 192)))
  fold45 = i64x2.add(fold45, i64x2.extmul_low_i32x4_u(v6, v128.load(powers, 208)))
  fold45 = i64x2.add(fold45, i64x2.extmul_high_i32x4_u(v7, v128.load(powers, 208)))
  fold45 = i64x2.add(fold45, i64x2.extmul_low_i32x4_u(v8, v128.load(powers, 224)))
  let fold67 = i64x2.extmul_low_i32x4_u(v0, v128.load(powers, 240))
  fold67 = i64x2.add(fold67, i64x2.extmul_high_i32x4_u(v1, v128.load(powers, 240)))
  fold67 = i64x2.add(fold67, i64x2.extmul_low_i32x4_u(v2, v128.load(powers, 256)))
  fold67 = i64x2.add(fold67, i64x2.extmul_high_i32x4_u(v3, v128.load(powers, 256)))
  fold67 = i64x2.add(fold67, i64x2.extmul_low_i32x4_u(v4, v128.load(powers, 272)))
  fold67 = i64x2.add(fold67, i64x2.extmul_high_i32x4_u(v5, v128.load(powers, 272)))
  fold67 = i64x2.add(fold67, i64x2.extmul_low_i32x4_u(v6, v128.load(powers, 288)))
  fold67 = i64x2.add(fold67, i64x2.extmul_high_i32x4_u(v7, v128.load(powers, 288)))
  fold67 = i64x2.add(fold67, i64x2.extmul_low_i32x4_u(v8, v128.load(powers, 304)))

  // Add the lower columns; each sum is less than 2^63.
  const s0 = c0 + u64(i64x2.extract_lane(fold01, 0))
  const s1 = c1 + u64(i64x2.extract_lane(fold01, 1))
  const s2 = c2 + u64(i64x2.extract_lane(fold23, 0))
  const s3 = c3 + u64(i64x2.extract_lane(fold23, 1))
  const s4 = c4 + u64(i64x2.extract_lane(fold45, 0))
  const s5 = c5 + u64(i64x2.extract_lane(fold45, 1))
  const s6 = c6 + u64(i64x2.extract_lane(fold67, 0))
  const s7 = c7 + u64(i64x2.extract_lane(fold67, 1))
  const s8 = low8 + h0 * u64(load<u32>(powers, 320)) + h1 * u64(load<u32>(powers, 324)) + h2 * u64(load<u32>(powers, 328)) +
    h3 * u64(load<u32>(powers, 332)) + h4 * u64(load<u32>(powers, 336)) + h5 * u64(load<u32>(powers, 340)) +
    h6 * u64(load<u32>(powers, 344)) + h7 * u64(load<u32>(powers, 348)) + h8 * u64(load<u32>(powers, 352))
  finish(to, s0, s1, s2, s3, s4, s5, s6, s7, s8)
}

/** to = the number given by nine columns, each below 2^63, modulo the known modulus. The quotient is less than 2^33. */
// @ts-ignore: decorator
@inline
function finish(to: usize, s0: u64, s1: u64, s2: u64, s3: u64, s4: u64, s5: u64, s6: u64, s7: u64, s8: u64): void {
  // The quotient from the upper columns is exact or one too small.
  const q = mulHigh(s8 + (s7 >>> 29), load<u64>(inverse))
  let rest = i64(s0 - q * load<u64>(digits))
  const r0 = u64(rest) & mask
  rest = (rest >> 29) + i64(s1 - q * load<u64>(digits, 8))
  const r1 = u64(rest) & mask
  rest = (rest >> 29) + i64(s2 - q * load<u64>(digits, 16))
  const r2 = u64(rest) & mask
  rest = (rest >> 29) + i64(s3 - q * load<u64>(digits, 24))
  const r3 = u64(rest) & mask
  rest = (rest >> 29) + i64(s4 - q * load<u64>(digits, 32))
  const r4 = u64(rest) & mask
  rest = (rest >> 29) + i64(s5 - q * load<u64>(digits, 40))
  const r5 = u64(rest) & mask
  rest = (rest >> 29) + i64(s6 - q * load<u64>(digits, 48))
  const r6 = u64(rest) & mask
  rest = (rest >> 29) + i64(s7 - q * load<u64>(digits, 56))
  const r7 = u64(rest) & mask
  rest = (rest >> 29) + i64(s8 - q * load<u64>(digits, 64))
  const r8 = u64(rest)
  const w3 = (r6 >>> 18) | (r7 << 11) | (r8 << 40)
  store<u64>(to, r0 | (r1 << 29) | (r2 << 58))
  store<u64>(to, (r2 >>> 6) | (r3 << 23) | (r4 << 52), 8)
  store<u64>(to, (r4 >>> 12) | (r5 << 17) | (r6 << 46), 16)
  store<u64>(to, w3, 24)
  const over = r8 >>> 24
  if (over != 0 || w3 >= load<u64>(modulus, 24)) {
    if (over != 0 || !below(to, modulus)) subFrom(to, modulus)
  }
}

/** to = a × b modulo the known modulus, for b below 2^16; `to` may be a. */
export function multiplyKnownSmall(to: usize, a: usize, b: u64): void {
  const w0 = load<u64>(a)
  const w1 = load<u64>(a, 8)
  const w2 = load<u64>(a, 16)
  const w3 = load<u64>(a, 24)
  finish(
    to,
    (w0 & mask) * b,
    ((w0 >>> 29) & mask) * b,
    (((w0 >>> 58) | (w1 << 6)) & mask) * b,
    ((w1 >>> 23) & mask) * b,
    (((w1 >>> 52) | (w2 << 12)) & mask) * b,
    ((w2 >>> 17) & mask) * b,
    (((w2 >>> 46) | (w3 << 18)) & mask) * b,
    ((w3 >>> 11) & mask) * b,
    (w3 >>> 40) * b,
  )
}
