// Natural numbers of any size: 32-bit limbs, least significant first; the caller gives the number of limbs. Digits are multiplied in u64.

export const low: u64 = 0xffffffff

/** Reads a big-endian number of `bytes` bytes into limbs. */
export function readLimbs(to: usize, limbs: usize, from: usize, bytes: usize): void {
  memory.fill(to, 0, limbs << 2)
  for (let i: usize = 0; i < bytes; i++) store<u8>(to + i, load<u8>(from + bytes - 1 - i))
}

/** Writes a number as `bytes` big-endian bytes, padded with zeros. */
export function writeBytes(to: usize, bytes: usize, from: usize, limbs: usize): void {
  const there = limbs << 2
  for (let i: usize = 0; i < bytes; i++) store<u8>(to + bytes - 1 - i, i < there ? load<u8>(from + i) : 0)
}

/** Returns the number of limbs without zero limbs at the top; 0 for zero. */
export function trim(at: usize, limbs: usize): usize {
  while (limbs > 0 && load<u32>(at + ((limbs - 1) << 2)) == 0) limbs--
  return limbs
}

/** to = from / 2^(32 words + bits), in the remaining limbs; `to` may be `from`. */
export function shiftRight(to: usize, from: usize, limbs: usize, words: usize, bits: u64): void {
  for (let i: usize = words; i < limbs; i++) {
    const next: u64 = i + 1 < limbs ? load<u32>(from + ((i + 1) << 2)) : 0
    const both = (next << 32) | <u64>load<u32>(from + (i << 2))
    store<u32>(to + ((i - words) << 2), <u32>(both >> bits))
  }
}

/** to = from · 2^bits in one additional limb, for less than 32 bits; `to` may be `from`. */
function shiftLeft(to: usize, from: usize, limbs: usize, bits: u64): void {
  let carried: u64 = 0
  for (let i: usize = 0; i < limbs; i++) {
    const both = (<u64>load<u32>(from + (i << 2)) << bits) | carried
    store<u32>(to + (i << 2), <u32>both)
    carried = both >> 32
  }
  store<u32>(to + (limbs << 2), <u32>carried)
}

/** to −= b, in b's limbs; returns the borrow of the last limb. */
export function subtractLimbs(to: usize, b: usize, limbs: usize): u64 {
  let borrow: u64 = 0
  for (let i: usize = 0; i < limbs << 2; i += 4) {
    const difference = <u64>load<u32>(to + i) - <u64>load<u32>(b + i) - borrow
    store<u32>(to + i, <u32>difference)
    borrow = difference >> 63
  }
  return borrow
}

/** Returns whether a is at least b. */
export function isAtLeast(a: usize, b: usize, limbs: usize): bool {
  for (let i: usize = limbs << 2; i > 0; i -= 4) {
    const ofA = load<u32>(a + i - 4)
    const ofB = load<u32>(b + i - 4)
    if (ofA != ofB) return ofA > ofB
  }
  return true
}

/** to = a · b modulo 2^(32 limbs); `to` must be neither a nor b. */
export function mulLow(to: usize, a: usize, b: usize, limbs: usize): void {
  const size = limbs << 2
  memory.fill(to, 0, size)
  for (let i: usize = 0; i < size; i += 4) {
    const digit = <u64>load<u32>(b + i)
    let carry: u64 = 0
    for (let j: usize = i; j < size; j += 4) {
      const sum = <u64>load<u32>(to + j) + <u64>load<u32>(a + j - i) * digit + carry
      store<u32>(to + j, <u32>sum)
      carry = sum >> 32
    }
  }
}

/** to += a · b; `to` has the limbs of both factors together. */
export function addProduct(to: usize, a: usize, aLimbs: usize, b: usize, bLimbs: usize): void {
  for (let i: usize = 0; i < bLimbs; i++) {
    const digit = <u64>load<u32>(b + (i << 2))
    const at = to + (i << 2)
    let carry: u64 = 0
    for (let j: usize = 0; j < aLimbs << 2; j += 4) {
      const sum = <u64>load<u32>(at + j) + <u64>load<u32>(a + j) * digit + carry
      store<u32>(at + j, <u32>sum)
      carry = sum >> 32
    }
    for (let j = aLimbs << 2; carry != 0; j += 4) {
      const sum = <u64>load<u32>(at + j) + carry
      store<u32>(at + j, <u32>sum)
      carry = sum >> 32
    }
  }
}

/**
 * Leaves the remainder of a division in the lowest limbs of the dividend. Knuth's algorithm D without the quotient digits.
 * @param dividend has room for one more limb
 * @param divisor its top limb is not zero
 * @param scratch room for one limb more than the divisor has
 */
export function reduce(dividend: usize, limbs: usize, divisor: usize, divisorLimbs: usize, scratch: usize): void {
  if (divisorLimbs == 1) {
    reduceByLimb(dividend, limbs, <u64>load<u32>(divisor))
    return
  }
  const bits = <u64>clz(load<u32>(divisor + ((divisorLimbs - 1) << 2)))
  shiftLeft(scratch, divisor, divisorLimbs, bits)
  shiftLeft(dividend, dividend, limbs, bits)
  for (let j = limbs - divisorLimbs + 1; j > 0; j--) reduceDigit(dividend + ((j - 1) << 2), scratch, divisorLimbs)
  shiftRight(dividend, dividend, divisorLimbs, 0, bits)
}

function reduceByLimb(dividend: usize, limbs: usize, divisor: u64): void {
  let rest: u64 = 0
  for (let i = limbs << 2; i > 0; i -= 4) {
    rest = ((rest << 32) | <u64>load<u32>(dividend + i - 4)) % divisor
    store<u32>(dividend + i - 4, 0)
  }
  store<u32>(dividend, <u32>rest)
}

/** Subtracts the largest possible multiple of the divisor from the limbs at `at`, one more than the divisor has. */
function reduceDigit(at: usize, divisor: usize, limbs: usize): void {
  const top = <u64>load<u32>(divisor + ((limbs - 1) << 2))
  const second = <u64>load<u32>(divisor + ((limbs - 2) << 2))
  const highest = <u64>load<u32>(at + (limbs << 2))
  const head = (highest << 32) | <u64>load<u32>(at + ((limbs - 1) << 2))
  const next = <u64>load<u32>(at + ((limbs - 2) << 2))
  let digit = highest >= top ? low : head / top
  let rest = head - digit * top
  while (rest <= low && digit * second > ((rest << 32) | next)) {
    digit--
    rest += top
  }
  let carry: u64 = 0
  let borrow: u64 = 0
  for (let i: usize = 0; i < limbs << 2; i += 4) {
    const product = <u64>load<u32>(divisor + i) * digit + carry
    carry = product >> 32
    const difference = <u64>load<u32>(at + i) - (product & low) - borrow
    store<u32>(at + i, <u32>difference)
    borrow = difference >> 63
  }
  store<u32>(at + (limbs << 2), 0)
  if (highest < carry + borrow) addBack(at, divisor, limbs)
}

function addBack(at: usize, divisor: usize, limbs: usize): void {
  let carry: u64 = 0
  for (let i: usize = 0; i < limbs << 2; i += 4) {
    const sum = <u64>load<u32>(at + i) + <u64>load<u32>(divisor + i) + carry
    store<u32>(at + i, <u32>sum)
    carry = sum >> 32
  }
}
