// MULMOD by a modulus that comes again and again, as that of a curve does: the upper half of the product is folded onto the lower one by a
// table of powers of two modulo n. Digits have 29 bits, so that nine products of two digits, and as many again, fit a 64-bit column.
import { subFrom } from './wordAdd'
import { below, copyWord, equal } from './wordCompare'
import { divideLimbs } from './wordDiv'

const mask: u64 = 0x1fffffff

/** The modulus that the tables below are of; 0 at the start. */
const modulus: usize = memory.data(32, 16)
/** Its nine digits. */
const digits: usize = memory.data(72, 16)
/** 2^(261 + 29 j) modulo n, nine digits each, for j from 0 to 8. */
const powers: usize = memory.data(648, 16)
/** A little less than 2^232 / n, as f64. */
const inverse: usize = memory.data(8, 16)

/** The last modulus that was not the one above, and how often it came: the tables cost as much as some ten multiplications. */
const candidate: usize = memory.data(32, 16)
const sightings: usize = memory.data(8, 16)
const wantedSightings: u32 = 8

/** A power of two while the tables are made: five limbs. */
const power: usize = memory.data(48, 16)

/** Whether n, at least 2^240, is the modulus that the tables are of; they are made for one that came often. */
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
  storeDigits(digits)
  const approximate = f64(load<u64>(n, 24)) * 18446744073709551616.0 + f64(load<u64>(n, 16))
  // 2^(232 - 128), and a part in 2^50 less.
  store<f64>(inverse, (20282409603651670423947251286016.0 / approximate) * (1.0 - 1.0 / 1125899906842624.0))
  store<u64>(power, 0)
  store<u64>(power, 0, 8)
  store<u64>(power, 0, 16)
  store<u64>(power, 0, 24)
  store<u64>(power, 1 << 5, 32)
  for (let row = powers; row < powers + 648; row += 72) {
    divideLimbs(power, power, 5, n)
    storeDigits(row)
    let carried: u64 = 0
    for (let at = power; at < power + 32; at += 8) {
      const limb = load<u64>(at)
      store<u64>(at, (limb << 29) | carried)
      carried = limb >>> 35
    }
    store<u64>(power, carried, 32)
  }
}

/** Stores the nine digits of the word at `power`. */
function storeDigits(to: usize): void {
  store<u64>(power, 0, 32)
  for (let bit: u32 = 0; bit < 261; bit += 29, to += 8) {
    const at = power + ((bit >>> 6) << 3)
    const shift = u64(bit & 63)
    const above = shift > 35 ? load<u64>(at, 8) << (64 - shift) : 0
    store<u64>(to, ((load<u64>(at) >>> shift) | above) & mask)
  }
}

/** to = a × b modulo the known modulus; `to` may be either. */
export function multiplyKnown(to: usize, a: usize, b: usize): void {
  const aw0 = load<u64>(a)
  const aw1 = load<u64>(a, 8)
  const aw2 = load<u64>(a, 16)
  const aw3 = load<u64>(a, 24)
  const bw0 = load<u64>(b)
  const bw1 = load<u64>(b, 8)
  const bw2 = load<u64>(b, 16)
  const bw3 = load<u64>(b, 24)
  const a0 = aw0 & mask
  const a1 = (aw0 >>> 29) & mask
  const a2 = ((aw0 >>> 58) | (aw1 << 6)) & mask
  const a3 = (aw1 >>> 23) & mask
  const a4 = ((aw1 >>> 52) | (aw2 << 12)) & mask
  const a5 = (aw2 >>> 17) & mask
  const a6 = ((aw2 >>> 46) | (aw3 << 18)) & mask
  const a7 = (aw3 >>> 11) & mask
  const a8 = aw3 >>> 40
  const b0 = bw0 & mask
  const b1 = (bw0 >>> 29) & mask
  const b2 = ((bw0 >>> 58) | (bw1 << 6)) & mask
  const b3 = (bw1 >>> 23) & mask
  const b4 = ((bw1 >>> 52) | (bw2 << 12)) & mask
  const b5 = (bw2 >>> 17) & mask
  const b6 = ((bw2 >>> 46) | (bw3 << 18)) & mask
  const b7 = (bw3 >>> 11) & mask
  const b8 = bw3 >>> 40

  // The product's columns from the eighth on, and the digits of what is above 2^261.
  let column = a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0
  const low8 = column & mask
  column = (column >>> 29) + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1
  const h0 = column & mask
  column = (column >>> 29) + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2
  const h1 = column & mask
  column = (column >>> 29) + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3
  const h2 = column & mask
  column = (column >>> 29) + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4
  const h3 = column & mask
  column = (column >>> 29) + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5
  const h4 = column & mask
  column = (column >>> 29) + a6 * b8 + a7 * b7 + a8 * b6
  const h5 = column & mask
  column = (column >>> 29) + a7 * b8 + a8 * b7
  const h6 = column & mask
  column = (column >>> 29) + a8 * b8
  const h7 = column & mask
  const h8 = column >>> 29

  // The lower columns, and with them each of those digits times its power of two modulo n: less than 2^63 each.
  const s0 = a0 * b0 + h0 * load<u64>(powers) + h1 * load<u64>(powers, 72) + h2 * load<u64>(powers, 144) + h3 * load<u64>(powers, 216) +
    h4 * load<u64>(powers, 288) + h5 * load<u64>(powers, 360) + h6 * load<u64>(powers, 432) + h7 * load<u64>(powers, 504) +
    h8 * load<u64>(powers, 576)
  const s1 = a0 * b1 + a1 * b0 + h0 * load<u64>(powers, 8) + h1 * load<u64>(powers, 80) + h2 * load<u64>(powers, 152) +
    h3 * load<u64>(powers, 224) + h4 * load<u64>(powers, 296) + h5 * load<u64>(powers, 368) + h6 * load<u64>(powers, 440) +
    h7 * load<u64>(powers, 512) + h8 * load<u64>(powers, 584)
  const s2 = a0 * b2 + a1 * b1 + a2 * b0 + h0 * load<u64>(powers, 16) + h1 * load<u64>(powers, 88) + h2 * load<u64>(powers, 160) +
    h3 * load<u64>(powers, 232) + h4 * load<u64>(powers, 304) + h5 * load<u64>(powers, 376) + h6 * load<u64>(powers, 448) +
    h7 * load<u64>(powers, 520) + h8 * load<u64>(powers, 592)
  const s3 = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + h0 * load<u64>(powers, 24) + h1 * load<u64>(powers, 96) + h2 * load<u64>(powers, 168) +
    h3 * load<u64>(powers, 240) + h4 * load<u64>(powers, 312) + h5 * load<u64>(powers, 384) + h6 * load<u64>(powers, 456) +
    h7 * load<u64>(powers, 528) + h8 * load<u64>(powers, 600)
  const s4 = a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0 + h0 * load<u64>(powers, 32) + h1 * load<u64>(powers, 104) +
    h2 * load<u64>(powers, 176) + h3 * load<u64>(powers, 248) + h4 * load<u64>(powers, 320) + h5 * load<u64>(powers, 392) +
    h6 * load<u64>(powers, 464) + h7 * load<u64>(powers, 536) + h8 * load<u64>(powers, 608)
  const s5 = a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0 + h0 * load<u64>(powers, 40) + h1 * load<u64>(powers, 112) +
    h2 * load<u64>(powers, 184) + h3 * load<u64>(powers, 256) + h4 * load<u64>(powers, 328) + h5 * load<u64>(powers, 400) +
    h6 * load<u64>(powers, 472) + h7 * load<u64>(powers, 544) + h8 * load<u64>(powers, 616)
  const s6 = a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0 + h0 * load<u64>(powers, 48) +
    h1 * load<u64>(powers, 120) + h2 * load<u64>(powers, 192) + h3 * load<u64>(powers, 264) + h4 * load<u64>(powers, 336) +
    h5 * load<u64>(powers, 408) + h6 * load<u64>(powers, 480) + h7 * load<u64>(powers, 552) + h8 * load<u64>(powers, 624)
  const s7 = a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0 + h0 * load<u64>(powers, 56) +
    h1 * load<u64>(powers, 128) + h2 * load<u64>(powers, 200) + h3 * load<u64>(powers, 272) + h4 * load<u64>(powers, 344) +
    h5 * load<u64>(powers, 416) + h6 * load<u64>(powers, 488) + h7 * load<u64>(powers, 560) + h8 * load<u64>(powers, 632)
  const s8 = low8 + h0 * load<u64>(powers, 64) + h1 * load<u64>(powers, 136) + h2 * load<u64>(powers, 208) + h3 * load<u64>(powers, 280) +
    h4 * load<u64>(powers, 352) + h5 * load<u64>(powers, 424) + h6 * load<u64>(powers, 496) + h7 * load<u64>(powers, 568) +
    h8 * load<u64>(powers, 640)

  // What is left is below 2^33 n: the quotient by the upper columns, as f64, is right or one too small.
  const q = u64(i64(f64(i64(s8 + (s7 >>> 29))) * load<f64>(inverse)))
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
