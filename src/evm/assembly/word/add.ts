// Addition and subtraction modulo 2^256. word.ts defines a word.

/** p += q. Returns whether the sum exceeded 2^256 − 1. */
// @ts-ignore: decorator
@inline
export function addTo(p: usize, q: usize): bool {
  const a0 = load<u64>(p)
  const s0 = a0 + load<u64>(q)
  const c0 = u64(s0 < a0)
  const a1 = load<u64>(p, 8)
  const t1 = a1 + load<u64>(q, 8)
  const s1 = t1 + c0
  const c1 = u64(t1 < a1) | u64(s1 < c0)
  const a2 = load<u64>(p, 16)
  const t2 = a2 + load<u64>(q, 16)
  const s2 = t2 + c1
  const c2 = u64(t2 < a2) | u64(s2 < c1)
  const a3 = load<u64>(p, 24)
  const t3 = a3 + load<u64>(q, 24)
  const s3 = t3 + c2
  store<u64>(p, s0)
  store<u64>(p, s1, 8)
  store<u64>(p, s2, 16)
  store<u64>(p, s3, 24)
  return <bool>(u32(t3 < a3) | u32(s3 < c2))
}

/** p -= q. Returns whether the difference was negative. */
// @ts-ignore: decorator
@inline
export function subFrom(p: usize, q: usize): bool {
  return subtract(p, p, q)
}

/** to = p - q; `to` may be p or q. Returns whether the difference was negative. */
// @ts-ignore: decorator
@inline
export function subtract(to: usize, p: usize, q: usize): bool {
  const a0 = load<u64>(p)
  const b0 = load<u64>(q)
  const d0 = a0 - b0
  const c0 = u64(a0 < b0)
  const a1 = load<u64>(p, 8)
  const b1 = load<u64>(q, 8)
  const t1 = a1 - b1
  const d1 = t1 - c0
  const c1 = u64(a1 < b1) | u64(t1 < c0)
  const a2 = load<u64>(p, 16)
  const b2 = load<u64>(q, 16)
  const t2 = a2 - b2
  const d2 = t2 - c1
  const c2 = u64(a2 < b2) | u64(t2 < c1)
  const a3 = load<u64>(p, 24)
  const b3 = load<u64>(q, 24)
  const t3 = a3 - b3
  const d3 = t3 - c2
  store<u64>(to, d0)
  store<u64>(to, d1, 8)
  store<u64>(to, d2, 16)
  store<u64>(to, d3, 24)
  return <bool>(u32(a3 < b3) | u32(t3 < c2))
}

/** Negates a word in place (two's complement). */
export function negate(p: usize): void {
  const w0 = load<u64>(p)
  const w1 = load<u64>(p, 8)
  const w2 = load<u64>(p, 16)
  const c0 = u64(w0 == 0)
  const c1 = c0 & u64(w1 == 0)
  const c2 = c1 & u64(w2 == 0)
  store<u64>(p, 0 - w0)
  store<u64>(p, ~w1 + c0, 8)
  store<u64>(p, ~w2 + c1, 16)
  store<u64>(p, ~load<u64>(p, 24) + c2, 24)
}

// @ts-ignore: decorator
@inline
export function add(sp: usize): void {
  addTo(sp - 32, sp)
}

// @ts-ignore: decorator
@inline
export function sub(sp: usize): void {
  subtract(sp - 32, sp, sp - 32)
}
