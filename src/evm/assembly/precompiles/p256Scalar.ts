// Numbers modulo n, the order of P-256's group: limbs as in p256Field.ts, with a reduction for any modulus. Only a few products
// per signature run here, so speed is not critical.

import { elementBytes, setWords } from './p256Field'

const limbBits: u64 = 29
const mask: u64 = 0x1fffffff
/** −1/n mod 2^29. */
const negativeInverse: u64 = 0xe00bc4f

const order: usize = memory.data(72)
/** 2^522 mod n. */
const intoForm: usize = memory.data(72)
const plainOne: usize = memory.data(72)
const power: usize = memory.data(72)
/** The first sixteen powers of the number to invert. */
const powers: usize = memory.data(16 * 72)
const product: usize = memory.data(80)

const order3: u64 = 0xffffffff00000000
const order2: u64 = 0xffffffffffffffff
const order1: u64 = 0xbce6faada7179e84
const order0: u64 = 0xf3b9cac2fc632551

/** Initializes the constants. Must run before any other function here. */
export function beginScalars(): void {
  setWords(order, order3, order2, order1, order0)
  setWords(intoForm, 0x84b6556a65587f06, 0x16c8e4adafb16586, 0x1f11fc5bb2d31a99, 0x45e9cfeeb48d9ef5)
  setWords(plainOne, 0, 0, 0, 1)
}

/** Returns whether 32 big-endian bytes are a number from 1 to n − 1. */
export function isScalar(from: usize): bool {
  const w3 = bswap(load<u64>(from))
  const w2 = bswap(load<u64>(from, 8))
  const w1 = bswap(load<u64>(from, 16))
  const w0 = bswap(load<u64>(from, 24))
  if ((w3 | w2 | w1 | w0) == 0) return false
  if (w3 != order3) return w3 < order3
  if (w2 != order2) return w2 < order2
  return w1 != order1 ? w1 < order1 : w0 < order0
}

/** a · b / 2^261 mod n, below 2n for factors whose product is below 2^517. */
export function mulScalars(to: usize, a: usize, b: usize): void {
  memory.fill(product, 0, 80)
  for (let i: usize = 0; i < elementBytes; i += 8) {
    const digit = load<u64>(b + i)
    const lowest = load<u64>(product) + load<u64>(a) * digit
    const m = (lowest * negativeInverse) & mask
    let carry = (lowest + load<u64>(order) * m) >> limbBits
    for (let j: usize = 8; j < elementBytes; j += 8) {
      store<u64>(product + j - 8, load<u64>(product + j) + load<u64>(a + j) * digit + load<u64>(order + j) * m + carry)
      carry = 0
    }
    store<u64>(product, 0, 64)
  }
  let carry: u64 = 0
  for (let j: usize = 0; j < elementBytes; j += 8) {
    const limb = load<u64>(product + j) + carry
    store<u64>(to + j, limb & mask)
    carry = limb >> limbBits
  }
}

/** Sets a number in Montgomery form from 32 big-endian bytes. */
export function setScalar(to: usize, from: usize): void {
  setPlain(to, from)
  mulScalars(to, to, intoForm)
}

/** Sets a number from 32 big-endian bytes, not in Montgomery form. */
export function setPlain(to: usize, from: usize): void {
  setWords(to, bswap(load<u64>(from)), bswap(load<u64>(from, 8)), bswap(load<u64>(from, 16)), bswap(load<u64>(from, 24)))
}

/** Computes 1 / a, both in Montgomery form, as the power n − 2 with four bits per step. */
export function invertScalar(to: usize, a: usize): void {
  mulScalars(powers, intoForm, plainOne)
  for (let i: usize = 1; i < 16; i++) mulScalars(powers + i * elementBytes, powers + (i - 1) * elementBytes, a)
  memory.copy(power, powers, elementBytes)
  raise(a, order3)
  raise(a, order2)
  raise(a, order1)
  raise(a, order0 - 2)
  memory.copy(to, power, elementBytes)
}

function raise(a: usize, exponent: u64): void {
  for (let shift: i32 = 60; shift >= 0; shift -= 4) {
    for (let i = 0; i < 4; i++) mulScalars(power, power, power)
    const digit = <usize>((exponent >> shift) & 15)
    if (digit != 0) mulScalars(power, power, powers + digit * elementBytes)
  }
}

/** Reduces a number below 2n to below n and writes it as four 64-bit words, least significant first. */
export function toWords(to: usize, a: usize): void {
  const w0 = load<u64>(a) | (load<u64>(a, 8) << 29) | (load<u64>(a, 16) << 58)
  const w1 = (load<u64>(a, 16) >> 6) | (load<u64>(a, 24) << 23) | (load<u64>(a, 32) << 52)
  const w2 = (load<u64>(a, 32) >> 12) | (load<u64>(a, 40) << 17) | (load<u64>(a, 48) << 46)
  const w3 = (load<u64>(a, 48) >> 18) | (load<u64>(a, 56) << 11) | (load<u64>(a, 64) << 40)
  const over = load<u64>(a, 64) >> 24
  const above = over != 0 || w3 > order3 || (w3 == order3 && (w2 > order2 || (w2 == order2 && (w1 > order1 || (w1 == order1 && w0 >= order0)))))
  store<u64>(to, w0)
  store<u64>(to, w1, 8)
  store<u64>(to, w2, 16)
  store<u64>(to, w3, 24)
  if (above) subtractOrder(to)
}

function subtractOrder(words: usize): void {
  let borrow = subtractWord(words, order0, 0)
  borrow = subtractWord(words + 8, order1, borrow)
  borrow = subtractWord(words + 16, order2, borrow)
  subtractWord(words + 24, order3, borrow)
}

function subtractWord(at: usize, word: u64, borrow: u64): u64 {
  const from = load<u64>(at)
  const difference = from - word
  store<u64>(at, difference - borrow)
  return u64(from < word || difference < borrow)
}
