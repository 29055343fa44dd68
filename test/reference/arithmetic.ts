import { charge, type Frame, pop, replace, top } from './frame.ts'
import { gas } from './gas.ts'
import type { Machine, Operation } from './machine.ts'
import type { Word } from './words.ts'

const wrap = (value: bigint): Word => BigInt.asUintN(256, value)
const signed = (word: Word): bigint => BigInt.asIntN(256, word)
const allOnes = 2n ** 256n - 1n

/** Creates an operation on the top word. */
function unary(of: (a: Word) => Word): Operation {
  return (frame) => replace(frame, of(top(frame)))
}

/** Creates an operation on the top word `a` and the word below it, `b`. */
function binary(of: (a: Word, b: Word) => Word): Operation {
  return (frame) => {
    const a = pop(frame)
    replace(frame, of(a, top(frame)))
  }
}

function ternary(of: (a: Word, b: Word, c: Word) => Word): Operation {
  return (frame) => {
    const a = pop(frame)
    const b = pop(frame)
    replace(frame, of(a, b, top(frame)))
  }
}

const test = (holds: boolean): Word => (holds ? 1n : 0n)

export function add(frame: Frame): void {
  const a = pop(frame)
  replace(frame, BigInt.asUintN(256, a + top(frame)))
}

export function sub(frame: Frame): void {
  const a = pop(frame)
  replace(frame, BigInt.asUintN(256, a - top(frame)))
}

export const mul: Operation = binary((a, b) => wrap(a * b))
export const div: Operation = binary((a, b) => (b === 0n ? 0n : a / b))
export const sdiv: Operation = binary((a, b) => (b === 0n ? 0n : wrap(signed(a) / signed(b))))
export const mod: Operation = binary((a, b) => (b === 0n ? 0n : a % b))
export const smod: Operation = binary((a, b) => (b === 0n ? 0n : wrap(signed(a) % signed(b))))
export const addmod: Operation = ternary((a, b, n) => (n === 0n ? 0n : (a + b) % n))
export const mulmod: Operation = ternary((a, b, n) => (n === 0n ? 0n : (a * b) % n))

function power(base: Word, exponent: Word): Word {
  if (base === 2n) return exponent < 256n ? 1n << exponent : 0n
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = wrap(result * square)
    square = wrap(square * square)
  }
  return result
}

/** Returns the number of bytes of a word without leading zeros. */
const byteLength = (word: Word): number => (word === 0n ? 0 : (word.toString(16).length + 1) >> 1)

export function exp(frame: Frame, machine: Machine): void {
  const base = pop(frame)
  const exponent = top(frame)
  if (charge(frame, byteLength(exponent) * (machine.old?.expByte ?? gas.expByte))) replace(frame, power(base, exponent))
}

export const signextend: Operation = binary((size, value) => (size > 30n ? value : wrap(BigInt.asIntN(8 * (Number(size) + 1), value))))

export const lt: Operation = binary((a, b) => test(a < b))
export const gt: Operation = binary((a, b) => test(a > b))
export const slt: Operation = binary((a, b) => test(signed(a) < signed(b)))
export const sgt: Operation = binary((a, b) => test(signed(a) > signed(b)))
export const eq: Operation = binary((a, b) => test(a === b))
export const iszero: Operation = unary((a) => test(a === 0n))
export const and: Operation = binary((a, b) => a & b)
export const or: Operation = binary((a, b) => a | b)
export const xor: Operation = binary((a, b) => a ^ b)
export const not: Operation = unary((a) => a ^ allOnes)
export const byte: Operation = binary((index, word) => (index > 31n ? 0n : (word >> (8n * (31n - index))) & 0xffn))
export const shl: Operation = binary((shift, word) => (shift > 255n ? 0n : wrap(word << shift)))
export const shr: Operation = binary((shift, word) => (shift > 255n ? 0n : word >> shift))
/** Counts leading zero bits (EIP-7939); 256 for zero. */
export const clz: Operation = unary((a) => (a === 0n ? 256n : BigInt(256 - a.toString(2).length)))
export const sar: Operation = binary((shift, word) => wrap(signed(word) >> (shift > 255n ? 255n : shift)))
