// Bitwise operations and shifts. word.ts defines a word.
import { setLimbs, zero } from './compare'

// @ts-ignore: decorator
@inline
export function and(sp: usize): void {
  const p = sp - 32
  store<u64>(p, load<u64>(p) & load<u64>(sp))
  store<u64>(p, load<u64>(p, 8) & load<u64>(sp, 8), 8)
  store<u64>(p, load<u64>(p, 16) & load<u64>(sp, 16), 16)
  store<u64>(p, load<u64>(p, 24) & load<u64>(sp, 24), 24)
}

// @ts-ignore: decorator
@inline
export function or(sp: usize): void {
  const p = sp - 32
  store<u64>(p, load<u64>(p) | load<u64>(sp))
  store<u64>(p, load<u64>(p, 8) | load<u64>(sp, 8), 8)
  store<u64>(p, load<u64>(p, 16) | load<u64>(sp, 16), 16)
  store<u64>(p, load<u64>(p, 24) | load<u64>(sp, 24), 24)
}

// @ts-ignore: decorator
@inline
export function xor(sp: usize): void {
  const p = sp - 32
  store<u64>(p, load<u64>(p) ^ load<u64>(sp))
  store<u64>(p, load<u64>(p, 8) ^ load<u64>(sp, 8), 8)
  store<u64>(p, load<u64>(p, 16) ^ load<u64>(sp, 16), 16)
  store<u64>(p, load<u64>(p, 24) ^ load<u64>(sp, 24), 24)
}

// @ts-ignore: decorator
@inline
export function not(sp: usize): void {
  store<u64>(sp, ~load<u64>(sp))
  store<u64>(sp, ~load<u64>(sp, 8), 8)
  store<u64>(sp, ~load<u64>(sp, 16), 16)
  store<u64>(sp, ~load<u64>(sp, 24), 24)
}

/** Counts leading zero bits, 256 for 0 (EIP-7939). */
export function clz(sp: usize): void {
  const w0 = load<u64>(sp)
  const w1 = load<u64>(sp, 8)
  const w2 = load<u64>(sp, 16)
  const w3 = load<u64>(sp, 24)
  let zeros = 192 + i64.clz(w0)
  if (w1 != 0) zeros = 128 + i64.clz(w1)
  if (w2 != 0) zeros = 64 + i64.clz(w2)
  if (w3 != 0) zeros = i64.clz(w3)
  setLimbs(sp, zeros, 0, 0, 0)
}

/** Byte of the second word by index from the most significant byte; 0 from index 32 on. */
// @ts-ignore: decorator
@inline
export function byte(sp: usize): void {
  const p = sp - 32
  const index = load<u64>(sp)
  const found = (load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) == 0 && index < 32
  const value = found ? u64(load<u8>(p + 31 - usize(index))) : 0
  setLimbs(p, value, 0, 0, 0)
}

/** Returns whether the top word is a shift by less than 256 bits. */
// @ts-ignore: decorator
@inline
function shifts(sp: usize): bool {
  return ((load<u64>(sp) & ~(<u64>255)) | load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) == 0
}

/** Returns 64 bits of high:low after a left shift by 0 to 63 bits. */
// @ts-ignore: decorator
@inline
export function joinLeft(high: u64, low: u64, bits: u64): u64 {
  return (high << bits) | ((low >>> 1) >>> (63 - bits))
}

/** Returns the low 64 bits of high:low after a right shift by 0 to 63 bits. */
// @ts-ignore: decorator
@inline
export function joinRight(high: u64, low: u64, bits: u64): u64 {
  return (low >>> bits) | ((high << 1) << (63 - bits))
}

export function shl(sp: usize): void {
  const p = sp - 32
  if (!shifts(sp)) return zero(p)
  const shift = load<u64>(sp)
  const bits = shift & 63
  const w0 = load<u64>(p)
  if (shift < 64) {
    const w1 = load<u64>(p, 8)
    const w2 = load<u64>(p, 16)
    return setLimbs(p, w0 << bits, joinLeft(w1, w0, bits), joinLeft(w2, w1, bits), joinLeft(load<u64>(p, 24), w2, bits))
  }
  const w1 = load<u64>(p, 8)
  if (shift < 128) return setLimbs(p, 0, w0 << bits, joinLeft(w1, w0, bits), joinLeft(load<u64>(p, 16), w1, bits))
  if (shift < 192) return setLimbs(p, 0, 0, w0 << bits, joinLeft(w1, w0, bits))
  setLimbs(p, 0, 0, 0, w0 << bits)
}

export function shr(sp: usize): void {
  const p = sp - 32
  if (!shifts(sp)) return zero(p)
  shiftRight(p, load<u64>(sp), 0)
}

export function sar(sp: usize): void {
  const p = sp - 32
  const sign = u64(load<i64>(p, 24) >> 63)
  if (!shifts(sp)) return setLimbs(p, sign, sign, sign, sign)
  shiftRight(p, load<u64>(sp), sign)
}

/** Shifts a word right by 0 to 255 bits; `fill` (all bits equal) enters from above. */
// @ts-ignore: decorator
@inline
export function shiftRight(p: usize, shift: u64, fill: u64): void {
  const bits = shift & 63
  const w3 = load<u64>(p, 24)
  if (shift < 64) {
    const w1 = load<u64>(p, 8)
    const w2 = load<u64>(p, 16)
    setLimbs(p, joinRight(w1, load<u64>(p), bits), joinRight(w2, w1, bits), joinRight(w3, w2, bits), joinRight(fill, w3, bits))
  } else if (shift < 128) {
    const w2 = load<u64>(p, 16)
    setLimbs(p, joinRight(w2, load<u64>(p, 8), bits), joinRight(w3, w2, bits), joinRight(fill, w3, bits), fill)
  } else if (shift < 192) {
    setLimbs(p, joinRight(w3, load<u64>(p, 16), bits), joinRight(fill, w3, bits), fill, fill)
  } else {
    setLimbs(p, joinRight(fill, w3, bits), fill, fill, fill)
  }
}

/** Extends the sign of the second word from the byte whose index, counted from the least significant byte, is on top. */
export function signextend(sp: usize): void {
  const p = sp - 32
  const index = load<u64>(sp)
  if ((load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) != 0 || index >= 31) return
  const limb = p + (usize(index) & 24)
  const unused = 56 - ((index & 7) << 3)
  const value = (load<i64>(limb) << unused) >> unused
  store<i64>(limb, value)
  const sign = value >> 63
  for (let above = limb + 8; above < sp; above += 8) store<i64>(above, sign)
}
