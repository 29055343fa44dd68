// Powers modulo 2^k, by products without their upper half. Numbers of up to 64 bits are single words.

import { mulLow } from './limbs'

let isWord: bool = false
let limbs: usize = 0
let size: usize = 0
/** base^0 … base^15, the current power, and room for a product. */
let table: usize = 0
let power: usize = 0
let product: usize = 0

/** Returns the bytes of working memory that `beginEven` needs. */
export function evenBytes(modulusLimbs: usize): usize {
  return (modulusLimbs + 4) * 4 * 18
}

/**
 * Prepares powers modulo 2^k.
 * @param bits k, above zero
 * @param base only read
 * @param work `evenBytes` of the limbs of k bits, aligned to 8
 * @returns the number of limbs of a power; bits above k are undefined
 */
export function beginEven(bits: usize, base: usize, baseLimbs: usize, work: usize): usize {
  limbs = (bits + 31) >> 5
  isWord = limbs <= 2
  if (isWord) limbs = 2
  size = ((limbs + 1) & ~1) << 2
  table = work
  power = table + 16 * size
  product = power + size
  memory.fill(table, 0, 2 * size)
  store<u32>(table, 1)
  memory.copy(table + size, base, min(baseLimbs, limbs) << 2)
  return limbs
}

/** Computes the table of powers that `raiseEven` uses. */
export function makeEvenTable(): void {
  memory.copy(power, table, size)
  for (let i: usize = 2; i < 16; i++) multiply(table + i * size, table + (i - 1) * size, table + size)
}

/** power = power^(256^count) · base^exponent, for an exponent of `count` bytes. */
export function raiseEven(exponent: usize, count: usize): void {
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
  for (let i = 0; i < 4; i++) multiply(power, power, power)
  if (digit != 0) multiply(power, power, table + digit * size)
}

function raiseWord(to: u64, exponent: usize, count: usize): u64 {
  for (let i: usize = 0; i < count; i++) {
    const byte = <usize>load<u8>(exponent + i)
    to *= to
    to *= to
    to *= to
    to *= to
    to *= load<u64>(table + ((byte >> 4) << 3))
    to *= to
    to *= to
    to *= to
    to *= to
    to *= load<u64>(table + ((byte & 15) << 3))
  }
  return to
}

/** power = base^exponent, bit by bit without a table, for exponents of few bits. */
export function raiseEvenShort(exponent: u32): void {
  memory.copy(power, table + size, size)
  for (let bit = 30 - clz(exponent); bit >= 0; bit--) {
    multiply(power, power, power)
    if (((exponent >> bit) & 1) != 0) multiply(power, power, table + size)
  }
}

/** Returns the address of the power's limbs. */
export function finishEven(): usize {
  return power
}

function multiply(to: usize, a: usize, b: usize): void {
  if (isWord) {
    store<u64>(to, load<u64>(a) * load<u64>(b))
    return
  }
  mulLow(product, a, b, limbs)
  memory.copy(to, product, size)
}
