// Powers modulo an odd number q with Montgomery products: numbers are stored times R = 2^(32 limbs). Below 2^64 numbers are single words, where a bit
// of the exponent costs a third of a gas; larger numbers have limbs of 32 bits.

import { isAtLeast, low, reduce, subtractLimbs } from './limbs'

/** Whether numbers are words of 64 bits. */
let isWord: bool = false
let modulus: usize = 0
/** Limbs of the modulus without zeros at the top, and limbs of R. */
let modulusLimbs: usize = 0
let limbs: usize = 0
let size: usize = 0
/** 1/q mod 2^64, −1/q mod 2^32. */
let inverse: u64 = 0
let negativeInverse: u64 = 0
/** base^0 … base^15, the current power, and room for a product. */
let table: usize = 0
let power: usize = 0
let product: usize = 0

/** Returns the bytes of working memory that `beginOdd` needs. */
export function oddBytes(modulusLimbs: usize): usize {
  return (modulusLimbs + 4) * 4 * 18
}

/**
 * Prepares powers modulo q.
 * @param base with room for `baseLimbs` and two limbs more than the modulus has; overwritten
 * @param work `oddBytes`, aligned to 8
 */
export function beginOdd(at: usize, limbsOfModulus: usize, base: usize, baseLimbs: usize, work: usize): void {
  modulus = at
  modulusLimbs = limbsOfModulus
  isWord = modulusLimbs <= 2
  limbs = isWord ? 2 : modulusLimbs
  size = ((limbs + 1) & ~1) << 2
  table = work
  power = table + 16 * size
  product = power + size
  inverse = invertWord(isWord && modulusLimbs == 1 ? <u64>load<u32>(at) : load<u64>(at))
  negativeInverse = -inverse & low
  toForm(table + size, base, baseLimbs)
}

/** Computes 1/a mod 2^64. Starts with five correct bits; each step doubles their number. */
export function invertWord(a: u64): u64 {
  let x = (a * 3) ^ 2
  for (let i = 0; i < 4; i++) x *= 2 - a * x
  return x
}

/** to = number · R mod q. */
function toForm(to: usize, number: usize, numberLimbs: usize): void {
  memory.copy(number + (limbs << 2), number, numberLimbs << 2)
  memory.fill(number, 0, limbs << 2)
  reduce(number, numberLimbs + limbs, modulus, modulusLimbs, product)
  memory.fill(to, 0, size)
  memory.copy(to, number, modulusLimbs << 2)
}

/** Computes the table of powers that `raiseOdd` uses; the base is already in it. `scratch` has the size of `beginOdd`'s base. */
export function makeOddTable(scratch: usize): void {
  store<u32>(scratch, 1)
  toForm(table, scratch, 1)
  memory.copy(power, table, size)
  for (let i: usize = 2; i < 16; i++) multiply(table + i * size, table + (i - 1) * size, table + size)
}

/** power = power^(256^count) · base^exponent, for an exponent of `count` bytes. */
export function raiseOdd(exponent: usize, count: usize): void {
  if (isWord) {
    store<u64>(power, raiseWord(load<u64>(power), exponent, count))
    return
  }
  for (let i: usize = 0; i < count; i++) {
    const byte = <usize>load<u8>(exponent + i)
    raiseDigit(byte >> 4)
    raiseDigit(byte & 15)
  }
}

function raiseDigit(digit: usize): void {
  multiply(power, power, power)
  multiply(power, power, power)
  multiply(power, power, power)
  multiply(power, power, power)
  if (digit != 0) multiply(power, power, table + digit * size)
}

function raiseWord(to: u64, exponent: usize, count: usize): u64 {
  const q = wordModulus()
  for (let i: usize = 0; i < count << 1; i++) {
    const byte = <usize>load<u8>(exponent + (i >> 1))
    const digit = (i & 1) == 0 ? byte >> 4 : byte & 15
    to = multiplyWords(to, to, q)
    to = multiplyWords(to, to, q)
    to = multiplyWords(to, to, q)
    to = multiplyWords(to, to, q)
    if (digit != 0) to = multiplyWords(to, load<u64>(table + (digit << 3)), q)
  }
  return to
}

/** power = base^exponent, bit by bit without a table, for exponents of few bits. */
export function raiseOddShort(exponent: u32): void {
  memory.copy(power, table + size, size)
  for (let bit = 30 - clz(exponent); bit >= 0; bit--) {
    multiply(power, power, power)
    if (((exponent >> bit) & 1) != 0) multiply(power, power, table + size)
  }
}

/** Converts the power from Montgomery form to a number below q. Overwrites the table. @returns the address of its limbs */
export function finishOdd(): usize {
  memory.fill(table, 0, size)
  store<u32>(table, 1)
  multiply(power, power, table)
  return power
}

function wordModulus(): u64 {
  return modulusLimbs == 1 ? <u64>load<u32>(modulus) : load<u64>(modulus)
}

function multiply(to: usize, a: usize, b: usize): void {
  if (isWord) store<u64>(to, multiplyWords(load<u64>(a), load<u64>(b), wordModulus()))
  else multiplyLimbs(to, a, b)
}

// @ts-ignore: the compiler's decorator
@inline
function multiplyWords(a: u64, b: u64, q: u64): u64 {
  const high = highProduct(a, b)
  const multiple = highProduct(a * b * inverse, q)
  return high - multiple + (high < multiple ? q : 0)
}

/** Returns the upper half of a product. */
// @ts-ignore: the compiler's decorator
@inline
function highProduct(a: u64, b: u64): u64 {
  const aLow = a & low
  const aHigh = a >> 32
  const bLow = b & low
  const bHigh = b >> 32
  const across = aLow * bHigh
  const middle = ((aLow * bLow) >> 32) + (across & low) + aHigh * bLow
  return aHigh * bHigh + (across >> 32) + (middle >> 32)
}

/**
 * a · b / R mod q; `to` may be a or b. Each digit's product and the multiple of q that clears the lowest limb are added in one pass. Limbs are moved
 * one by one, because bulk memory instructions cost more than a short product.
 */
function multiplyLimbs(to: usize, a: usize, b: usize): void {
  const bytes = limbs << 2
  const result = product
  for (let i: usize = 0; i <= bytes; i += 4) store<u32>(result + i, 0)
  for (let i: usize = 0; i < bytes; i += 4) {
    const digit = <u64>load<u32>(b + i)
    if (digit == 0) clearLimb(result, bytes)
    else addDigit(result, a, digit, bytes)
  }
  if (load<u32>(result + bytes) != 0 || isAtLeast(result, modulus, limbs)) subtractLimbs(result, modulus, limbs)
  for (let i: usize = 0; i < bytes; i += 4) store<u32>(to + i, load<u32>(result + i))
}

/** result = (result + a · digit + m q) / 2^32, where m makes the division exact. */
function addDigit(result: usize, a: usize, digit: u64, bytes: usize): void {
  const first = <u64>load<u32>(result) + <u64>load<u32>(a) * digit
  const m = (first * negativeInverse) & low
  let carry = first >> 32
  let carryOfM = ((first & low) + <u64>load<u32>(modulus) * m) >> 32
  for (let j: usize = 4; j < bytes; j += 4) {
    const sum = <u64>load<u32>(result + j) + <u64>load<u32>(a + j) * digit + carry
    carry = sum >> 32
    const cleared = (sum & low) + <u64>load<u32>(modulus + j) * m + carryOfM
    carryOfM = cleared >> 32
    store<u32>(result + j - 4, <u32>cleared)
  }
  storeTop(result + bytes, carry + carryOfM)
}

/** Like `addDigit` with digit zero. */
function clearLimb(result: usize, bytes: usize): void {
  const first = <u64>load<u32>(result)
  const m = (first * negativeInverse) & low
  let carry = (first + <u64>load<u32>(modulus) * m) >> 32
  for (let j: usize = 4; j < bytes; j += 4) {
    const cleared = <u64>load<u32>(result + j) + <u64>load<u32>(modulus + j) * m + carry
    carry = cleared >> 32
    store<u32>(result + j - 4, <u32>cleared)
  }
  storeTop(result + bytes, carry)
}

function storeTop(at: usize, carry: u64): void {
  const top = <u64>load<u32>(at) + carry
  store<u32>(at - 4, <u32>top)
  store<u32>(at, <u32>(top >> 32))
}
