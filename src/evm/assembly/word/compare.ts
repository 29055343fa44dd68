// Moves, tests and comparisons of words. word.ts defines a word.

/** Copies a word with four scalar moves; source and target may be the same. */
// @ts-ignore: decorator
@inline
export function copyWord(to: usize, from: usize): void {
  const w0 = load<u64>(from)
  const w1 = load<u64>(from, 8)
  const w2 = load<u64>(from, 16)
  const w3 = load<u64>(from, 24)
  store<u64>(to, w0)
  store<u64>(to, w1, 8)
  store<u64>(to, w2, 16)
  store<u64>(to, w3, 24)
}

/** Exchanges two words. */
// @ts-ignore: decorator
@inline
export function swapWords(p: usize, q: usize): void {
  const p0 = load<u64>(p)
  const q0 = load<u64>(q)
  const p1 = load<u64>(p, 8)
  const q1 = load<u64>(q, 8)
  store<u64>(p, q0)
  store<u64>(q, p0)
  store<u64>(p, q1, 8)
  store<u64>(q, p1, 8)
  const p2 = load<u64>(p, 16)
  const q2 = load<u64>(q, 16)
  const p3 = load<u64>(p, 24)
  const q3 = load<u64>(q, 24)
  store<u64>(p, q2, 16)
  store<u64>(q, p2, 16)
  store<u64>(p, q3, 24)
  store<u64>(q, p3, 24)
}

/** Writes four limbs, the least significant first. */
// @ts-ignore: decorator
@inline
export function setLimbs(p: usize, w0: u64, w1: u64, w2: u64, w3: u64): void {
  store<u64>(p, w0)
  store<u64>(p, w1, 8)
  store<u64>(p, w2, 16)
  store<u64>(p, w3, 24)
}

/** Sets a word to a number below 2^64. */
// @ts-ignore: decorator
@inline
export function setSmall(p: usize, value: u64): void {
  setLimbs(p, value, 0, 0, 0)
}

/** Sets a word to 0. */
// @ts-ignore: decorator
@inline
export function zero(p: usize): void {
  setLimbs(p, 0, 0, 0, 0)
}

// @ts-ignore: decorator
@inline
export function isZero(p: usize): bool {
  return (load<u64>(p) | load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) == 0
}

// @ts-ignore: decorator
@inline
export function equal(p: usize, q: usize): bool {
  return (
    ((load<u64>(p) ^ load<u64>(q)) |
      (load<u64>(p, 8) ^ load<u64>(q, 8)) |
      (load<u64>(p, 16) ^ load<u64>(q, 16)) |
      (load<u64>(p, 24) ^ load<u64>(q, 24))) == 0
  )
}

/** Returns whether the word is below 2^32. */
// @ts-ignore: decorator
@inline
export function fitsU32(p: usize): bool {
  return ((load<u64>(p) >>> 32) | load<u64>(p, 8) | load<u64>(p, 16) | load<u64>(p, 24)) == 0
}

/** Returns the word as a u32, or 0xffffffff when it is larger. */
// @ts-ignore: decorator
@inline
export function toU32Clamped(p: usize): u32 {
  return select<u32>(load<u32>(p), 0xffffffff, fitsU32(p))
}

/** Unsigned p < q. */
// @ts-ignore: decorator
@inline
export function below(p: usize, q: usize): bool {
  const p3 = load<u64>(p, 24)
  const q3 = load<u64>(q, 24)
  if (p3 != q3) return p3 < q3
  const p2 = load<u64>(p, 16)
  const q2 = load<u64>(q, 16)
  if (p2 != q2) return p2 < q2
  const p1 = load<u64>(p, 8)
  const q1 = load<u64>(q, 8)
  if (p1 != q1) return p1 < q1
  return load<u64>(p) < load<u64>(q)
}

/** Two's complement p < q. */
// @ts-ignore: decorator
@inline
export function signedBelow(p: usize, q: usize): bool {
  const p3 = load<i64>(p, 24)
  const q3 = load<i64>(q, 24)
  if (p3 != q3) return p3 < q3
  const p2 = load<u64>(p, 16)
  const q2 = load<u64>(q, 16)
  if (p2 != q2) return p2 < q2
  const p1 = load<u64>(p, 8)
  const q1 = load<u64>(q, 8)
  if (p1 != q1) return p1 < q1
  return load<u64>(p) < load<u64>(q)
}

/** Unsigned order: -1, 0 or 1. */
export function compare(p: usize, q: usize): i32 {
  if (below(p, q)) return -1
  return below(q, p) ? 1 : 0
}

// @ts-ignore: decorator
@inline
export function lt(sp: usize): void {
  setSmall(sp - 32, u64(below(sp, sp - 32)))
}

// @ts-ignore: decorator
@inline
export function gt(sp: usize): void {
  setSmall(sp - 32, u64(below(sp - 32, sp)))
}

// @ts-ignore: decorator
@inline
export function slt(sp: usize): void {
  setSmall(sp - 32, u64(signedBelow(sp, sp - 32)))
}

// @ts-ignore: decorator
@inline
export function sgt(sp: usize): void {
  setSmall(sp - 32, u64(signedBelow(sp - 32, sp)))
}

// @ts-ignore: decorator
@inline
export function eq(sp: usize): void {
  setSmall(sp - 32, u64(equal(sp, sp - 32)))
}

// @ts-ignore: decorator
@inline
export function iszero(sp: usize): void {
  setSmall(sp, u64(isZero(sp)))
}

/** Returns the number of significant bytes, 0 to 32, of the word at sp - 32: EXP's exponent (EIP-160 charges per byte). */
export function exponentBytes(sp: usize): u32 {
  const p = sp - 32
  const w3 = load<u64>(p, 24)
  if (w3 != 0) return 32 - (u32(clz(w3)) >>> 3)
  const w2 = load<u64>(p, 16)
  if (w2 != 0) return 24 - (u32(clz(w2)) >>> 3)
  const w1 = load<u64>(p, 8)
  if (w1 != 0) return 16 - (u32(clz(w1)) >>> 3)
  return 8 - (u32(clz(load<u64>(p))) >>> 3)
}
