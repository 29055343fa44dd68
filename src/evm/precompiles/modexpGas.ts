import { bigintFromBytes } from '#lib/bytes'
import { readPadded } from './precompile.ts'

/** Bytes of the three lengths. */
export const modexpHeadBytes = 96

export type Lengths = { readonly base: bigint; readonly exponent: bigint; readonly modulus: bigint }

export function modexpLengths(input: Uint8Array): Lengths {
  const [base = 0n, exponent = 0n, modulus = 0n] = [0, 32, 64].map((at) => bigintFromBytes(readPadded(input, at, 32)))
  return { base, exponent, modulus }
}

/** Returns the gas from Berlin on: size in words squared, times the number of squarings, divided by three; at least 200. @see EIP-2565 */
export function modexpGasBerlin(input: Uint8Array): bigint {
  const lengths = modexpLengths(input)
  const words = sizeWords(lengths)
  const price = (words * words * squarings(input, lengths, 8n)) / 3n
  return price < 200n ? 200n : price
}

/** Returns the gas from Osaka on: twice the size in words squared (16 for up to 32 bytes), times the number of squarings; at least 500. @see EIP-7883 */
export function modexpGasOsaka(input: Uint8Array): bigint {
  const lengths = modexpLengths(input)
  const words = sizeWords(lengths)
  const price = (words <= 4n ? 16n : 2n * words * words) * squarings(input, lengths, 16n)
  return price < 500n ? 500n : price
}

function sizeWords({ base, modulus }: Lengths): bigint {
  return ((base > modulus ? base : modulus) + 7n) / 8n
}

/** Returns the number of squarings that the gas counts. Only the first 32 bytes of the exponent are read; each later byte counts `perByte`. */
export function squarings(input: Uint8Array, { base, exponent }: Lengths, perByte: bigint): bigint {
  const headLength = exponent < 32n ? Number(exponent) : 32
  const at = BigInt(modexpHeadBytes) + base
  const head = at >= BigInt(input.length) ? 0n : bigintFromBytes(readPadded(input, Number(at), headLength))
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1)
  const count = exponent > 32n ? perByte * (exponent - 32n) + headBits : headBits
  return count > 1n ? count : 1n
}
