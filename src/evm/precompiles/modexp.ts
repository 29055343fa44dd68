import { bigintFromBytes, bytesFromBigint, emptyBytes } from '#lib/bytes'
import { type Precompile, readPadded } from './precompile.ts'

const headBytes = 96

type Lengths = { readonly base: bigint; readonly exponent: bigint; readonly modulus: bigint }

/**
 * 0x05: length of base ‖ of exponent ‖ of modulus (32 bytes each) ‖ base ‖ exponent ‖ modulus → base^exponent mod modulus.
 * Cost: a squaring of the modulus's size for each exponent bit. The price follows the square of the size in words, so the slowest gas is
 * that of a long exponent over a modulus of one word, where a bit costs a third of a gas and, with BigInt, 0.065 µs: 5 million gas a second.
 * @see EIP-198, EIP-2565
 */
export const modexp: Precompile = {
  gas(input): bigint {
    const lengths = lengthsOf(input)
    const size = lengths.base > lengths.modulus ? lengths.base : lengths.modulus
    const sizeWords = (size + 7n) / 8n
    const price = (sizeWords * sizeWords * iterations(input, lengths)) / 3n
    return price < 200n ? 200n : price
  },
  run(input): Uint8Array {
    const lengths = lengthsOf(input)
    if (lengths.modulus === 0n) return emptyBytes
    const baseLength = Number(lengths.base)
    const exponentLength = Number(lengths.exponent)
    const modulusLength = Number(lengths.modulus)
    const modulus = bigintFromBytes(readPadded(input, headBytes + baseLength + exponentLength, modulusLength))
    if (modulus === 0n) return new Uint8Array(modulusLength)
    const base = bigintFromBytes(readPadded(input, headBytes, baseLength))
    const exponent = readPadded(input, headBytes + baseLength, exponentLength)
    return bytesFromBigint(power(base % modulus, exponent, modulus), modulusLength)
  },
}

function lengthsOf(input: Uint8Array): Lengths {
  const [base = 0n, exponent = 0n, modulus = 0n] = [0, 32, 64].map((at) => bigintFromBytes(readPadded(input, at, 32)))
  return { base, exponent, modulus }
}

/** How many squarings the price counts: only the first 32 bytes of the exponent are looked at. */
function iterations(input: Uint8Array, { base, exponent }: Lengths): bigint {
  const headLength = exponent < 32n ? Number(exponent) : 32
  const at = BigInt(headBytes) + base
  const head = at >= BigInt(input.length) ? 0n : bigintFromBytes(readPadded(input, Number(at), headLength))
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1)
  const count = exponent > 32n ? 8n * (exponent - 32n) + headBits : headBits
  return count > 1n ? count : 1n
}

/** Four exponent bits a step: fifteen powers are made ahead, unless the exponent is short. Even moduli are like others. */
function power(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  const start = exponent.findIndex((byte) => byte !== 0)
  if (start < 0) return 1n % modulus
  const bytes = exponent.subarray(start)
  return bytes.length <= 4 ? powerBinary(base, bytes, modulus) : powerWindowed(base, bytes, modulus)
}

function powerBinary(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  let result = 1n % modulus
  for (const byte of exponent) {
    for (let bit = 0x80; bit > 0; bit >>= 1) {
      result = (result * result) % modulus
      if (byte & bit) result = (result * base) % modulus
    }
  }
  return result
}

function powerWindowed(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  const powers = [1n % modulus]
  for (let i = 1; i < 16; i++) powers.push(((powers[i - 1] as bigint) * base) % modulus)
  let result = 1n % modulus
  for (const byte of exponent) {
    for (const digit of [byte >> 4, byte & 15]) {
      for (let i = 0; i < 4; i++) result = (result * result) % modulus
      if (digit > 0) result = (result * (powers[digit] as bigint)) % modulus
    }
  }
  return result
}
