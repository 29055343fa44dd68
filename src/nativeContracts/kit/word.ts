/**
 * A 256-bit word: eight u32 limbs, least significant first. Words are mutable buffers, so that transfers allocate none; a function that changes a word
 * takes it as its first parameter `to`.
 */
export type Word = Uint32Array<ArrayBuffer>

export const newWord = (): Word => new Uint32Array(8)

export function isZero(word: Word): boolean {
  const low = (word[0] as number) | (word[1] as number) | (word[2] as number) | (word[3] as number)
  return (low | (word[4] as number) | (word[5] as number) | (word[6] as number) | (word[7] as number)) === 0
}

export function isEqual(a: Word, b: Word): boolean {
  for (let i = 0; i < 8; i++) if (a[i] !== b[i]) return false
  return true
}

export function isBelow(a: Word, b: Word): boolean {
  for (let i = 7; i >= 0; i--) {
    const [x, y] = [a[i] as number, b[i] as number]
    if (x !== y) return x < y
  }
  return false
}

/** Returns whether all bits above the lowest `bits` are zero; `bits` is a multiple of 32. */
export function fitsBits(word: Word, bits: number): boolean {
  for (let i = bits / 32; i < 8; i++) if (word[i] !== 0) return false
  return true
}

export function copyWord(to: Word, from: Word): Word {
  for (let i = 0; i < 8; i++) to[i] = from[i] as number
  return to
}

/** Stores `a + b`. @returns whether the sum exceeded 256 bits; it is then reduced */
export function add(to: Word, a: Word, b: Word): boolean {
  let carry = 0
  for (let i = 0; i < 8; i++) {
    const sum = (a[i] as number) + (b[i] as number) + carry
    to[i] = sum
    carry = sum > 0xffffffff ? 1 : 0
  }
  return carry !== 0
}

/** Stores `a - b`, modulo 2^256. */
export function subtract(to: Word, a: Word, b: Word): void {
  let borrow = 0
  for (let i = 0; i < 8; i++) {
    const difference = (a[i] as number) - (b[i] as number) - borrow
    to[i] = difference
    borrow = difference < 0 ? 1 : 0
  }
}

/** Adds a number below 2^32, modulo 2^256. */
export function addNumber(to: Word, word: Word, number: number): Word {
  let carry = number
  for (let i = 0; i < 8; i++) {
    const sum = (word[i] as number) + carry
    to[i] = sum
    carry = sum > 0xffffffff ? 1 : 0
  }
  return to
}

/** Stores a number below 2^32. */
export function setNumber(to: Word, number: number): Word {
  to.fill(0)
  to[0] = number
  return to
}

/** Reads 32 big-endian bytes. */
export function readWord(to: Word, bytes: Uint8Array, at: number): Word {
  for (let i = 7; i >= 0; i--) {
    to[i] =
      (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>>
      0
    at += 4
  }
  return to
}

/** Reads 32 big-endian bytes like `readWord`, faster. */
export function viewWord(to: Word, view: DataView, at: number): Word {
  to[7] = view.getUint32(at)
  to[6] = view.getUint32(at + 4)
  to[5] = view.getUint32(at + 8)
  to[4] = view.getUint32(at + 12)
  to[3] = view.getUint32(at + 16)
  to[2] = view.getUint32(at + 20)
  to[1] = view.getUint32(at + 24)
  to[0] = view.getUint32(at + 28)
  return to
}

/** Writes 32 big-endian bytes like `writeWord`, faster. */
export function setViewWord(view: DataView, at: number, word: Word): void {
  view.setUint32(at, word[7] as number)
  view.setUint32(at + 4, word[6] as number)
  view.setUint32(at + 8, word[5] as number)
  view.setUint32(at + 12, word[4] as number)
  view.setUint32(at + 16, word[3] as number)
  view.setUint32(at + 20, word[2] as number)
  view.setUint32(at + 24, word[1] as number)
  view.setUint32(at + 28, word[0] as number)
}

/** Writes 32 big-endian bytes. */
export function writeWord(bytes: Uint8Array, at: number, word: Word): void {
  for (let i = 7; i >= 0; i--) {
    const limb = word[i] as number
    bytes[at] = limb >>> 24
    bytes[at + 1] = limb >>> 16
    bytes[at + 2] = limb >>> 8
    bytes[at + 3] = limb
    at += 4
  }
}

export function setBigint(to: Word, value: bigint): Word {
  for (let i = 0; i < 8; i++) {
    to[i] = Number(value & 0xffffffffn)
    value >>= 32n
  }
  return to
}

export function bigintOf(word: Word): bigint {
  let value = 0n
  for (let i = 7; i >= 0; i--) value = (value << 32n) | BigInt(word[i] as number)
  return value
}

/** Returns the u64 in two limbs of a word. @param limb index of the lower one */
export function u64At(word: Word, limb: number): bigint {
  const [low, high] = [word[limb] as number, word[limb + 1] as number]
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
}

/** Replaces the u64 in two limbs of a word. */
export function setU64At(word: Word, limb: number, value: bigint): void {
  word[limb] = Number(value & 0xffffffffn)
  word[limb + 1] = Number(value >> 32n)
}

export const wordOf = (value: bigint | number): Word => setBigint(newWord(), BigInt(value))
export const wordOfBytes = (bytes: Uint8Array): Word => readWord(newWord(), bytes, 0)

/** Returns the word as 32 big-endian bytes. */
export function bytesOf(word: Word): Uint8Array {
  const bytes = new Uint8Array(32)
  writeWord(bytes, 0, word)
  return bytes
}
