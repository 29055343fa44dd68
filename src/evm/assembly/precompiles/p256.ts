// ECDSA over P-256: checks that r is the x coordinate of (digest/s) G + (r/s) Q, modulo n. Both products share their doublings. Digits are signed and
// odd: those of G are eight bits wide with a table built once, those of Q five bits wide with a table built per key.

import { beginField, copy, elementBytes, mul, setBytes, setNumber } from './p256Field'
import { addAffine, addPoint, beginPoints, clearSum, doubleSum, hasX, isOnCurve, pointBytes, storeAffine, storeSum, sum, sumIsInfinity, tablePointBytes } from './p256Point'
import { beginScalars, invertScalar, isScalar, mulScalars, setPlain, setScalar, toWords } from './p256Scalar'

const baseDigitBits: i32 = 8
const keyDigitBits: i32 = 5
const digits: usize = 257

/** Address at which the host writes digest ‖ r ‖ s ‖ x ‖ y. */
const input: usize = memory.data(160)
const r: usize = input + 32
const s: usize = input + 64
const keyX: usize = input + 96
const keyY: usize = input + 128

/** G, 3G, 5G … 127G: two coordinates each. */
const baseTable: usize = memory.data(64 * 144)
/** Q, 3Q … 15Q. */
const keyTable: usize = memory.data(8 * 360)
const doubled: usize = memory.data(360)
const baseDigits: usize = memory.data(257)
const keyDigits: usize = memory.data(257)
const key: usize = memory.data(216)
const curveB: usize = memory.data(72)
const inverse: usize = memory.data(72)
const scalar: usize = memory.data(72)
const words: usize = memory.data(32)
const element: usize = memory.data(72)

const prime3: u64 = 0xffffffff00000001
const prime1: u64 = 0x00000000ffffffff
const prime0: u64 = 0xffffffffffffffff

let isReady: bool = false

export function p256Input(): usize {
  return input
}

/** Returns whether the signature in the input is valid. The caller has checked the input length. */
export function p256Verify(): bool {
  if (!isReady) begin()
  if (!isScalar(r) || !isScalar(s) || !isElement(keyX) || !isElement(keyY)) return false
  setBytes(key, keyX)
  setBytes(key + elementBytes, keyY)
  if (!isOnCurve(key, key + elementBytes, curveB)) return false
  makeDigits()
  makeKeyTable()
  addUp()
  return !sumIsInfinity && xIsR()
}

function begin(): void {
  beginField()
  beginScalars()
  beginPoints()
  setNumber(curveB, 0x5ac635d8aa3a93e7, 0xb3ebbd55769886bc, 0x651d06b0cc53b0f6, 0x3bce3c3e27d2604b)
  setNumber(key, 0x6b17d1f2e12c4247, 0xf8bce6e563a440f2, 0x77037d812deb33a0, 0xf4a13945d898c296)
  setNumber(key + elementBytes, 0x4fe342e2fe1a7f9b, 0x8ee7eb4a7c0f9e16, 0x2bce33576b315ece, 0xcbb6406837bf51f5)
  copy(baseTable, key)
  copy(baseTable + elementBytes, key + elementBytes)
  clearSum()
  addAffine(key, false)
  doubleSum()
  storeSum(doubled)
  for (let i: usize = 1; i < 64; i++) {
    clearSum()
    addPoint(doubled, false)
    addAffine(baseTable + (i - 1) * 144, false)
    invert(element, sum + 2 * elementBytes)
    storeAffine(baseTable + i * 144, element)
  }
  isReady = true
}

/** Computes 1/a as the power p − 2, bit by bit. */
function invert(to: usize, a: usize): void {
  setNumber(to, 0, 0, 0, 1)
  raise(to, a, prime3)
  raise(to, a, 0)
  raise(to, a, prime1)
  raise(to, a, prime0 - 2)
}

function raise(to: usize, a: usize, exponent: u64): void {
  for (let shift: i32 = 63; shift >= 0; shift--) {
    mul(to, to, to)
    if (((exponent >> shift) & 1) != 0) mul(to, to, a)
  }
}

/** Returns whether 32 big-endian bytes are a number below p. */
function isElement(from: usize): bool {
  return isBelowPrime(bswap(load<u64>(from)), bswap(load<u64>(from, 8)), bswap(load<u64>(from, 16)), bswap(load<u64>(from, 24)))
}

function isBelowPrime(w3: u64, w2: u64, w1: u64, w0: u64): bool {
  if (w3 != prime3) return w3 < prime3
  if (w2 != 0) return false
  return w1 != prime1 ? w1 < prime1 : w0 < prime0
}

/** Computes the digits of digest/s and r/s. */
function makeDigits(): void {
  setScalar(inverse, s)
  invertScalar(inverse, inverse)
  setPlain(scalar, input)
  mulScalars(scalar, scalar, inverse)
  toWords(words, scalar)
  recode(baseDigits, words, baseDigitBits)
  setPlain(scalar, r)
  mulScalars(scalar, scalar, inverse)
  toWords(words, scalar)
  recode(keyDigits, words, keyDigitBits)
}

/** Writes a number of four words as one signed byte per bit: zero, or an odd number below 2^(width − 1) followed by width − 1 zeros. */
function recode(to: usize, from: usize, width: i32): void {
  memory.fill(to, 0, digits)
  let carry: u64 = 0
  let bit: i32 = 0
  while (bit < 256) {
    if ((bits(from, bit) & 1) == carry) {
      bit++
      continue
    }
    const taken = min(width, 256 - bit)
    const digit = (bits(from, bit) & ((1 << taken) - 1)) + carry
    carry = (digit >> (width - 1)) & 1
    store<i8>(to + bit, i8(digit - (carry << width)))
    bit += taken
  }
  store<u8>(to + 256, u8(carry))
}

/** Returns the bits of a four-word number from `bit` on, at least 8 of them while bits remain. */
function bits(from: usize, bit: i32): u64 {
  const word = bit >> 6
  const shift = bit & 63
  const low = load<u64>(from + (word << 3)) >> shift
  return shift <= 56 || word == 3 ? low : low | (load<u64>(from + (word << 3), 8) << (64 - shift))
}

function makeKeyTable(): void {
  clearSum()
  addAffine(key, false)
  storeSum(keyTable)
  doubleSum()
  storeSum(doubled)
  addAffine(key, false)
  storeSum(keyTable + tablePointBytes)
  for (let i: usize = 2; i < 8; i++) {
    addPoint(doubled, false)
    storeSum(keyTable + i * tablePointBytes)
  }
}

function addUp(): void {
  clearSum()
  for (let i: i32 = 256; i >= 0; i--) {
    doubleSum()
    const ofKey = <i32>load<i8>(keyDigits + i)
    if (ofKey != 0) addPoint(keyTable + <usize>(abs(ofKey) >> 1) * tablePointBytes, ofKey < 0)
    const ofBase = <i32>load<i8>(baseDigits + i)
    if (ofBase != 0) addAffine(baseTable + <usize>(abs(ofBase) >> 1) * 144, ofBase < 0)
  }
}

/** Returns whether the sum's x, a number below p, is r or r + n. */
function xIsR(): bool {
  const w3 = bswap(load<u64>(r))
  const w2 = bswap(load<u64>(r, 8))
  const w1 = bswap(load<u64>(r, 16))
  const w0 = bswap(load<u64>(r, 24))
  setNumber(element, w3, w2, w1, w0)
  if (hasX(element)) return true
  // p − n has 128 bits: for a larger r, r + n is not a field element
  if (w3 != 0 || w2 != 0) return false
  return addOrder(w1, w0)
}

function addOrder(w1: u64, w0: u64): bool {
  const low = w0 + 0xf3b9cac2fc632551
  const carry = u64(low < w0)
  const next = w1 + 0xbce6faada7179e84
  const middle = next + carry
  const over = u64(next < w1) | u64(middle < next)
  const third: u64 = 0xffffffffffffffff + over
  const top: u64 = 0xffffffff00000000 + (third == 0 ? over : 0)
  if (!isBelowPrime(top, third, middle, low)) return false
  setNumber(element, top, third, middle, low)
  return hasX(element)
}
