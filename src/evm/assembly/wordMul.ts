// Multiplication: word.ts says what a word is. WebAssembly has no 64 × 64 → 128 bit product, so it is made of four 32-bit ones.

/** The high 64 bits of a product. */
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

/** 1 when a sum is below one of its addends, which is when it passed 2^64. */
// @ts-ignore: decorator
@inline
export function carry(sum: u64, addend: u64): u64 {
  return u64(sum < addend)
}

/** to = a × b modulo 2^256; `to` may be either. */
export function multiply(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const b2 = load<u64>(b, 16)
  const b3 = load<u64>(b, 24)
  const upper = a2 | a3 | b2 | b3
  if ((upper | a1 | b1) == 0) {
    store<u64>(to, a0 * b0)
    store<u64>(to, mulHigh(a0, b0), 8)
    store<u64>(to, 0, 16)
    store<u64>(to, 0, 24)
    return
  }
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
  if (upper != 0) {
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

// @ts-ignore: decorator
@inline
export function mul(sp: usize): void {
  multiply(sp - 32, sp, sp - 32)
}

/** The eight limbs at `to` become a × b. `to` may be neither. */
export function multiplyFull(to: usize, a: usize, b: usize): void {
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const b2 = load<u64>(b, 16)
  const b3 = load<u64>(b, 24)
  let x = load<u64>(a)
  store<u64>(to, x * b0)
  let high = mulHigh(x, b0)
  let r0 = x * b1 + high
  high = mulHigh(x, b1) + carry(r0, high)
  let r1 = x * b2 + high
  high = mulHigh(x, b2) + carry(r1, high)
  let r2 = x * b3 + high
  let r3 = mulHigh(x, b3) + carry(r2, high)
  for (let at: usize = 8; at < 32; at += 8) {
    x = load<u64>(a + at)
    let low = x * b0
    let sum = r0 + low
    high = mulHigh(x, b0) + carry(sum, low)
    store<u64>(to + at, sum)
    low = x * b1
    sum = low + high
    high = mulHigh(x, b1) + carry(sum, low)
    r0 = r1 + sum
    high += carry(r0, sum)
    low = x * b2
    sum = low + high
    high = mulHigh(x, b2) + carry(sum, low)
    r1 = r2 + sum
    high += carry(r1, sum)
    low = x * b3
    sum = low + high
    high = mulHigh(x, b3) + carry(sum, low)
    r2 = r3 + sum
    r3 = high + carry(r2, sum)
  }
  store<u64>(to, r0, 32)
  store<u64>(to, r1, 40)
  store<u64>(to, r2, 48)
  store<u64>(to, r3, 56)
}
