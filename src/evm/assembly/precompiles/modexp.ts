// base^exponent mod modulus for any modulus above one. The modulus is q · 2^k with an odd q; the power is computed modulo each and then combined.
// 
// Order of calls: `modexpReserve`, after which the host writes base ‖ modulus at the returned address; `modexpBegin`; then `modexpShort` once, or
// `modexpTable` and `modexpRaise` for each piece of the exponent; `modexpFinish`. Pieces keep a call short, because the engine replaces running code
// by
// its optimised form only between calls.

import { addProduct, low, mulLow, readLimbs, shiftRight, subtractLimbs, trim, writeBytes } from './limbs'
import { beginEven, evenBytes, finishEven, makeEvenTable, raiseEven, raiseEvenShort } from './modexpEven'
import { beginOdd, finishOdd, invertWord, makeOddTable, oddBytes, raiseOdd, raiseOddShort } from './modexpOdd'

const pieceBytes: usize = 4096
const piece: usize = memory.data(4096)

let modulusBytes: usize = 0
let baseBytes: usize = 0
/** base ‖ modulus, big-endian; later the result. */
let input: usize = 0
/** The odd factor q of the modulus and its number of limbs: one and one limb for a power of two. */
let odd: usize = 0
let oddLimbs: usize = 0
/** k, and the number of limbs modulo 2^k. */
let twos: usize = 0
let evenLimbs: usize = 0
let base: usize = 0
let work: usize = 0
let evenWork: usize = 0

/** Maximum bytes of a piece of the exponent for `modexpRaise`; `modexpPiece` returns its address. */
export function modexpPieceBytes(): usize {
  return pieceBytes
}
export function modexpPiece(): usize {
  return piece
}

/**
 * Reserves memory: about 45 times the modulus and four times the base.
 * @returns the address of base ‖ modulus and of the result; 0 when the memory does not suffice
 */
export function modexpReserve(bytesOfBase: usize, bytesOfModulus: usize): usize {
  const limbs = (bytesOfModulus + 3) >> 2
  baseBytes = bytesOfBase
  modulusBytes = bytesOfModulus
  input = align(__heap_base)
  odd = align(input + baseBytes + modulusBytes)
  base = align(odd + ((limbs + 2) << 2))
  work = align(base + baseBytes + ((limbs + 8) << 2))
  const end = work + oddBytes(limbs) + evenBytes(limbs) + ((limbs + 8) << 4)
  const pages = <i32>((end + 0xffff) >> 16) - memory.size()
  return pages > 0 && memory.grow(pages) < 0 ? 0 : input
}

function align(at: usize): usize {
  return (at + 7) & ~7
}

/** Reads base and modulus, which must be above one, from the host's input. */
export function modexpBegin(): void {
  const limbs = (modulusBytes + 3) >> 2
  const baseLimbs = (baseBytes + 3) >> 2
  readLimbs(odd, limbs, input + baseBytes, modulusBytes)
  readLimbs(base, baseLimbs, input, baseBytes)
  splitTwos(trim(odd, limbs))
  evenWork = align(work + oddBytes(oddLimbs))
  if (twos > 0) evenLimbs = beginEven(twos, base, baseLimbs, evenWork)
  if (hasOdd()) beginOdd(odd, oddLimbs, base, trim(base, baseLimbs), work)
}

function splitTwos(limbs: usize): void {
  let words: usize = 0
  while (load<u32>(odd + (words << 2)) == 0) words++
  const bits = ctz(load<u32>(odd + (words << 2)))
  twos = (words << 5) + bits
  if (twos > 0) shiftRight(odd, odd, limbs, words, bits)
  oddLimbs = trim(odd, limbs - words)
}

function hasOdd(): bool {
  return oddLimbs > 1 || load<u32>(odd) > 1
}

/** Computes the power for an exponent above zero with few bits. */
export function modexpShort(exponent: u32): void {
  if (twos > 0) raiseEvenShort(exponent)
  if (hasOdd()) raiseOddShort(exponent)
}

/** Builds the tables, before the first piece. */
export function modexpTable(): void {
  if (twos > 0) makeEvenTable()
  if (hasOdd()) makeOddTable(base)
}

/** Processes the next `count` bytes of the exponent, most significant first, from the piece. */
export function modexpRaise(count: usize): void {
  if (twos > 0) raiseEven(piece, count)
  if (hasOdd()) raiseOdd(piece, count)
}

/** Writes the result over the input, with as many bytes as the modulus. */
export function modexpFinish(): void {
  if (twos == 0) {
    writeBytes(input, modulusBytes, finishOdd(), oddLimbs)
    return
  }
  const even = finishEven()
  if (!hasOdd()) {
    clearAbove(even)
    writeBytes(input, modulusBytes, even, evenLimbs)
    return
  }
  join(finishOdd(), even)
}

/** Combines x1 modulo q and x2 modulo 2^k: x1 + q · ((x2 − x1) / q mod 2^k). */
function join(x1: usize, x2: usize): void {
  const bytes = evenLimbs << 2
  const widened = align(evenWork + evenBytes(evenLimbs))
  const quotient = align(widened + bytes)
  const inverse = align(quotient + bytes)
  widen(widened, x1)
  subtractLimbs(x2, widened, evenLimbs)
  widen(widened, odd)
  invert(inverse, widened, quotient)
  mulLow(quotient, x2, inverse, evenLimbs)
  clearAbove(quotient)
  const limbs = oddLimbs + evenLimbs
  const sum = base
  memory.fill(sum, 0, (limbs + 1) << 2)
  memory.copy(sum, x1, oddLimbs << 2)
  addProduct(sum, odd, oddLimbs, quotient, evenLimbs)
  writeBytes(input, modulusBytes, sum, limbs)
}

/** Copies the low limbs of a number modulo q to the limbs of a number modulo 2^k. */
function widen(to: usize, from: usize): void {
  memory.fill(to, 0, evenLimbs << 2)
  memory.copy(to, from, min(oddLimbs, evenLimbs) << 2)
}

function clearAbove(number: usize): void {
  const words = twos >> 5
  if (words >= evenLimbs) return
  const at = number + (words << 2)
  store<u32>(at, load<u32>(at) & ((1 << <u32>(twos & 31)) - 1))
  memory.fill(at + 4, 0, (evenLimbs - words - 1) << 2)
}

/** Computes 1/a modulo 2^(32 limbs), starting with the inverse of one word. Each step x (2 − a x) doubles the number of correct limbs. */
function invert(to: usize, a: usize, scratch: usize): void {
  const scratch2 = align(to + (evenLimbs << 2))
  memory.fill(to, 0, evenLimbs << 2)
  store<u32>(to, <u32>invertWord(<u64>load<u32>(a)))
  for (let correct: usize = 1; correct < evenLimbs; ) {
    correct = min<usize>(correct << 1, evenLimbs)
    mulLow(scratch, a, to, correct)
    subtractFromTwo(scratch, correct)
    mulLow(scratch2, to, scratch, correct)
    memory.copy(to, scratch2, correct << 2)
  }
}

function subtractFromTwo(number: usize, limbs: usize): void {
  let carry: u64 = 3
  for (let i: usize = 0; i < limbs << 2; i += 4) {
    const sum = (<u64>load<u32>(number + i) ^ low) + carry
    store<u32>(number + i, <u32>sum)
    carry = sum >> 32
  }
}
