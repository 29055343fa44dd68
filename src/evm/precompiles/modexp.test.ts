import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { modexp } from './modexp.ts'

const word = (value: bigint | number): Uint8Array => bytesFromBigint(BigInt(value), 32)
const call = (base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array =>
  concatBytes(word(base.length), word(exponent.length), word(modulus.length), base, exponent, modulus)

/** Bit by bit from the low end, which the implementation never does. */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus === 0n) return 0n
  let [result, square] = [1n % modulus, base % modulus]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

it('evm/modexp: random numbers of any length, even moduli among them, give base^exponent mod modulus in the modulus’s length', () => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.array(fc.constantFrom(0, 1, 2, 255), { maxLength: 70 }))
  fc.assert(
    fc.property(bytes, bytes, fc.uint8Array({ minLength: 1, maxLength: 40 }), (b, e, m) => {
      const [base, exponent, modulus] = [b, e, m].map((x) => Uint8Array.from(x)) as [Uint8Array, Uint8Array, Uint8Array]
      const expected = power(bigintFromBytes(base), bigintFromBytes(exponent), bigintFromBytes(modulus))
      expect(modexp.run(call(base, exponent, modulus))).toEqual(bytesFromBigint(expected, modulus.length))
    }),
    { numRuns: 400 },
  )
})

it.each([
  ['0^0 mod 7 is one', [], [], [7], [1]],
  ['0^0 mod 1 is zero', [], [], [1], [0]],
  ['a modulus of zero gives zeros', [3], [2], [0, 0], [0, 0]],
  ['a modulus of no bytes gives no bytes', [3], [2], [], []],
  ['5^0 mod 3 in two bytes', [5], [0, 0], [0, 3], [0, 1]],
  ['2^10 mod 1000', [2], [10], [3, 232], [0, 24]],
])('evm/modexp: %s', (_what, base, exponent, modulus, result) => {
  const input = call(Uint8Array.from(base), Uint8Array.from(exponent), Uint8Array.from(modulus))
  expect(modexp.run(input)).toEqual(Uint8Array.from(result))
})

it('evm/modexp: what the input lacks counts as zeros', () => {
  expect(modexp.run(new Uint8Array(0))).toEqual(new Uint8Array(0))
  expect(modexp.gas(new Uint8Array(0))).toBe(200n)
  const cut = call(Uint8Array.of(3), Uint8Array.of(2), Uint8Array.of(1, 0)).subarray(0, -1)
  expect(modexp.run(cut)).toEqual(Uint8Array.of(0, 9))
  expect(modexp.run(concatBytes(word(0), word(3), word(1)))).toEqual(Uint8Array.of(0))
})

it('evm/modexp: lengths near 2^256 are priced without being read, and cost nothing where nothing is to be done', () => {
  const huge = 2n ** 256n - 1n
  expect(modexp.gas(concatBytes(word(huge), word(huge), word(huge)))).toBeGreaterThan(2n ** 256n)
  expect(modexp.gas(concatBytes(word(0), word(huge), word(1)))).toBeGreaterThan(2n ** 250n)
  const nothing = concatBytes(word(0), word(huge), word(0))
  expect(modexp.gas(nothing)).toBe(200n)
  expect(modexp.run(nothing)).toEqual(new Uint8Array(0))
})

it.each([
  // size in words² × squarings / 3, at least 200 (EIP-2565)
  ['32-byte numbers, exponent of 256 bits', 32, 32, 32, 0xff, 1360n],
  ['exponent of 64 bytes: eight squarings for each byte beyond 32', 32, 64, 32, 0x01, 2688n],
  ['base longer than modulus', 128, 2, 8, 0x01, 682n],
  ['exponent zero', 256, 32, 256, 0x00, 341n],
])('evm/modexp: price of %s', (_what, base, exponent, modulus, first, gas) => {
  const exponentBytes = new Uint8Array(exponent)
  exponentBytes[0] = first
  expect(modexp.gas(call(new Uint8Array(base), exponentBytes, new Uint8Array(modulus)))).toBe(gas)
})
