import { emptyBytes } from '#lib/bytes'
import { type Lengths, modexpGasBerlin, modexpGasOsaka, modexpHeadBytes, modexpLengths } from './modexpGas.ts'
import { power } from './modexpPower.ts'
import { type Precompile, readPadded } from './precompile.ts'

/** Longest number from Osaka on, in bytes. @see EIP-7823 */
const maxBytesOsaka = 1024n
/** Longest supported number in bytes. A longer one costs more than 100 billion gas; every number that can be paid is shorter. */
const maxBytes = 2n ** 24n

/**
 * Precompile 0x05: length of base ‖ of exponent ‖ of modulus (32 bytes each) ‖ base ‖ exponent ‖ modulus → base^exponent mod modulus, in as many
 * bytes as the modulus. Cost: a squaring of the modulus's size per exponent bit. The slowest case per gas is a long exponent with a modulus of one
 * word, where a bit costs a third of a gas.
 * @see EIP-198, EIP-2565
 */
export const modexp: Precompile = { gas: modexpGasBerlin, run: (input) => run(input, modexpLengths(input)) }

/** Precompile 0x05 from Osaka on: higher gas, and failure for numbers of more than 1,024 bytes. @see EIP-7823, EIP-7883 */
export const modexpOsaka: Precompile = {
  gas: modexpGasOsaka,
  run(input): Uint8Array | undefined {
    const lengths = modexpLengths(input)
    const { base, exponent, modulus } = lengths
    return base > maxBytesOsaka || exponent > maxBytesOsaka || modulus > maxBytesOsaka ? undefined : run(input, lengths)
  },
}

function run(input: Uint8Array, { base, exponent, modulus }: Lengths): Uint8Array | undefined {
  if (modulus === 0n) return emptyBytes
  if (base > maxBytes || modulus > maxBytes) return undefined
  const result = new Uint8Array(Number(modulus))
  const exponentAt = modexpHeadBytes + Number(base)
  const modulusAt = exponentAt + Number(exponent)
  const modulusBytes = withoutZeros(readPadded(input, modulusAt, result.length))
  // an input that is too short for base or exponent has no modulus
  if (modulusBytes.length === 0 || (modulusBytes.length === 1 && modulusBytes[0] === 1)) return result
  const baseBytes = withoutZeros(input.subarray(modexpHeadBytes, exponentAt))
  const value = power(baseBytes, withoutZeros(input.subarray(exponentAt, modulusAt)), modulusBytes)
  if (value) result.set(value, result.length - value.length)
  return value && result
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length && bytes[start] === 0) start++
  return bytes.subarray(start)
}
