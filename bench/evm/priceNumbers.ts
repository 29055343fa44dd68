// Inputs of the precompiles for numbers and bytes that may be slow for their price.
import { createHash, hash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'

export type PricedInput = { readonly label: string; readonly input: Uint8Array }

/** Pseudo-random bytes, the same in every run. */
export function createBytes(seed: string): (length: number) => Uint8Array {
  let count = 0
  return (length) =>
    createHash('shake256', { outputLength: Math.max(1, length) })
      .update(`${seed} ${count++}`)
      .digest()
      .subarray(0, length)
}

const word = (value: number | bigint): Uint8Array => bytesFromBigint(BigInt(value), 32)
const numbers = (...values: readonly bigint[]): Uint8Array => concatBytes(...values.map(word))

/** Picks from a list in turn: lists of coprime lengths give every combination. */
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T

/** Digits that keep a multiplication busiest, for windows of several widths, and the extremes. */
export const denseScalars: readonly bigint[] = [1, 2, 3, 4, 5, 6, 7, 8, 16].map((step) =>
  Array.from({ length: Math.floor(256 / step) }, (_, i) => 1n << BigInt(i * step)).reduce((sum, bit) => sum | bit, 0n),
)

export function* recoverInputs(): Generator<PricedInput> {
  const bytes = createBytes('ecrecover')
  const { n } = secp256k1.Point.CURVE()
  let point = secp256k1.Point.BASE
  for (let i = 0; i < 1_100; i++) {
    if (i % 10 === 0) point = point.double()
    const r = i % 7 === 6 ? bigintFromBytes(bytes(32)) : point.toAffine().x
    const s = i % 3 === 0 ? bigintFromBytes(bytes(32)) : pick([1n, n - 1n, n, 0n, ...denseScalars], i)
    yield {
      label: `r ${i % 7 === 6 ? 'random' : 'of a point'}, s ${s.toString(16).slice(0, 8)}…`,
      input: numbers(bigintFromBytes(bytes(32)), 27n + BigInt(i & 1), r, s),
    }
  }
}

/** Sizes around the ends of words and blocks, and larger ones up to the memory for 4 million gas. */
export function* hashInputs(): Generator<PricedInput> {
  const bytes = createBytes('sizes')
  for (let size = 0; size <= 1_000; size++) yield { label: `${size} bytes`, input: bytes(size) }
  for (let size = 1_024; size < 1_000_000; size = Math.floor(size * 1.09)) yield { label: `${size} bytes`, input: bytes(size) }
}

/** A number of a given size, in shapes whose factors of two, words or carries may be slow. */
function shaped(bytes: (length: number) => Uint8Array, length: number, shape: number): Uint8Array {
  const number = bytes(length)
  if (length === 0) return number
  number[0] = (number[0] ?? 0) | 0x80
  number[length - 1] = (number[length - 1] ?? 0) | 1
  if (shape === 1) number.fill(0xff)
  if (shape === 2) number.fill(0, Math.ceil(length / 2))
  if (shape === 3) number.fill(0, 1)
  if (shape === 4) number[length - 1] = 2
  if (shape === 5) number.fill(0xff, 0, Math.ceil(length / 2)).fill(0, Math.ceil(length / 2), length - 1)
  return number
}

const exponentShapes = ['random', 'ones', 'one bit', 'sparse', 'zeros'] as const

function exponentOf(bytes: (length: number) => Uint8Array, length: number, shape: (typeof exponentShapes)[number]): Uint8Array {
  const exponent = bytes(length)
  if (shape === 'ones') exponent.fill(0xff)
  if (shape === 'sparse') exponent.fill(0x11)
  if (shape === 'zeros' || shape === 'one bit') exponent.fill(0)
  if (shape === 'one bit' && length > 0) exponent[0] = 0x80
  return exponent
}

const sizes = [
  1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 48, 56, 63, 64, 65, 72, 96, 128, 136, 192, 200, 255, 256, 257, 384,
  512, 768, 1000, 1016, 1023, 1024,
]

/** Inputs of up to 1,024 bytes, valid in every fork. Exponents are long where numbers are short. */
export function* modexpInputs(): Generator<PricedInput> {
  const bytes = createBytes('modexp')
  for (let i = 0; i < 1_600; i++) {
    const size = pick(sizes, i)
    const lengths = [1, 1, 2, 3, 4, 5, 8, 31, 32, 33, 34, 40, 64, 300, 1_024].filter((length) => size * size * length < 4_000_000)
    const length = pick(lengths, Math.floor(i / 3))
    const modulus = shaped(bytes, size, i % 6)
    const baseSize = pick([size, size, size, 1, 1_024, size + 8, 0], Math.floor(i / 5))
    const shape = pick(exponentShapes, Math.floor(i / 7))
    const exponent = length === 1 && i % 2 === 0 ? Uint8Array.of(pick([0, 1, 2, 3, 7, 15, 17], i)) : exponentOf(bytes, length, shape)
    const input = concatBytes(word(baseSize), word(exponent.length), word(size), shaped(bytes, baseSize, i % 3), exponent, modulus)
    yield { label: `base ${baseSize}, exponent ${exponent.length} ${shape}, modulus ${size} of shape ${i % 6}`, input }
  }
}

/** Inputs valid before Osaka only: exponents that a modulus of one word makes cheap, numbers of many kilobytes. */
export function* modexpLongInputs(): Generator<PricedInput> {
  const bytes = createBytes('long modexp')
  yield* modexpInputs()
  for (let i = 0; i < 120; i++) {
    const size = pick([1, 4, 5, 8, 9, 16, 24], i)
    const exponent = exponentOf(bytes, pick([1_100, 4_096, 4_200, 30_000], i), pick(exponentShapes, i))
    const input = concatBytes(word(size), word(exponent.length), word(size), shaped(bytes, size, 0), exponent, shaped(bytes, size, i % 6))
    yield { label: `exponent ${exponent.length} ${pick(exponentShapes, i)}, modulus ${size} of shape ${i % 6}`, input }
  }
  for (let i = 0; i < 24; i++) {
    const size = pick([1_025, 2_048, 4_097, 8_192], i)
    const exponent = Uint8Array.of(pick([2, 3, 255], i))
    const baseSize = pick([size, size, 1, 9_000], i)
    const input = concatBytes(word(baseSize), word(1), word(size), shaped(bytes, baseSize, 0), exponent, shaped(bytes, size, i % 6))
    yield { label: `base ${baseSize}, exponent ${exponent[0]}, modulus ${size} of shape ${i % 6}`, input }
  }
}

export function* blake2Inputs(): Generator<PricedInput> {
  const bytes = createBytes('blake2')
  for (let i = 0; i < 1_050; i++) {
    const rounds = i < 600 ? i : Math.floor(600 * 1.02 ** (i - 600))
    const input = bytes(213)
    new DataView(input.buffer, input.byteOffset).setUint32(0, rounds)
    input[212] = i % 50 === 49 ? 2 : i & 1
    yield { label: `${rounds} rounds${i % 50 === 49 ? ', malformed' : ''}`, input }
  }
}

/** Keys on the curve, so that the whole check runs, whether the signature is valid or not; dense scalars through s = 1; malformed keys. */
export function* p256Inputs(): Generator<PricedInput> {
  const bytes = createBytes('p256')
  const { n, p } = p256.Point.CURVE()
  let point = p256.Point.BASE
  for (let i = 0; i < 1_200; i++) {
    if (i % 8 === 0) point = point.add(p256.Point.BASE).double()
    const { x, y } = i % 40 === 0 ? p256.Point.BASE.toAffine() : point.toAffine()
    const dense = pick(denseScalars, i) % n
    const [digest, r, s] =
      i % 2 === 0
        ? [bigintFromBytes(bytes(32)), bigintFromBytes(bytes(32)) % n, bigintFromBytes(bytes(32)) % n]
        : [pick(denseScalars, i >> 1), dense, 1n]
    const key = i % 60 === 59 ? [x, p - 1n] : [x, y]
    yield {
      label: `${i % 2 === 0 ? 'random' : `dense ${i % denseScalars.length}`}${i % 60 === 59 ? ', key off the curve' : ''}`,
      input: numbers(digest, r, s, ...key),
    }
  }
}

export function* zeroInputs(): Generator<PricedInput> {
  yield { label: 'empty', input: new Uint8Array(0) }
}

/** An input that begins with a commitment's versioned hash. */
export const versioned = (commitment: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(1), new Uint8Array(hash('sha256', commitment, 'buffer')).subarray(1))
