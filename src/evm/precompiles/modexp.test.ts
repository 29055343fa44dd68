import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { modexp, modexpOsaka } from './modexp.ts'

const word = (value: bigint | number): Uint8Array => bytesFromBigint(BigInt(value), 32)
const call = (base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array =>
  concatBytes(word(base.length), word(exponent.length), word(modulus.length), base, exponent, modulus)

/** Computes the power bit by bit from the low end, unlike the implementation. */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus === 0n) return 0n
  let [result, square] = [1n % modulus, base % modulus]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

it('evm/modexp: random numbers of any length, also even moduli, give base^exponent mod modulus in the modulus’s length', () => {
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

/** Generates numbers at edge cases of single words, limbs, carries and the split of a modulus into an odd part and a power of two. */
const shaped = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    fc.uint8Array({ maxLength }),
    fc.tuple(fc.nat(maxLength), fc.constantFrom(0, 1, 0x80, 0xff)).map(([length, byte]) => new Uint8Array(length).fill(byte)),
    fc.tuple(fc.uint8Array({ maxLength }), fc.nat(maxLength)).map(([bytes, zeros]) => bytes.fill(0, Math.max(0, bytes.length - zeros))),
    fc.tuple(fc.uint8Array({ maxLength }), fc.nat(maxLength)).map(([bytes, ones]) => bytes.fill(0xff, 0, ones)),
    fc.tuple(fc.integer({ min: 1, max: maxLength }), fc.nat(8 * maxLength)).map(([length, bit]) => {
      const bytes = new Uint8Array(length)
      bytes[(bit >> 3) % length] = 1 << (bit & 7)
      return bytes
    }),
  )

it('evm/modexp: handles moduli of up to 70 bytes, odd, even and powers of two, with short and long exponents', () => {
  fc.assert(
    fc.property(shaped(90), fc.oneof(shaped(3), shaped(40)), shaped(70), (base, exponent, modulus) => {
      const expected = power(bigintFromBytes(base), bigintFromBytes(exponent), bigintFromBytes(modulus))
      const bytes = modulus.length === 0 ? new Uint8Array(0) : bytesFromBigint(expected, modulus.length)
      expect(modexp.run(call(base, exponent, modulus))).toEqual(bytes)
    }),
    { numRuns: 2_000 },
  )
})

it.each([1, 2, 4, 8, 9, 16, 63, 64, 65, 128, 1023, 1024])(
  'evm/modexp: handles moduli of %i bytes with every power of two near the end of a limb',
  (length) => {
    const high = BigInt(8 * length)
    const base = bytesFromBigint((1n << high) - 3n, length)
    for (const twos of [0, 1, 31, 32, 33, 63, 64, 65, 8 * length - 33, 8 * length - 1].filter((bits) => bits >= 0 && bits < 8 * length)) {
      const modulus = (((1n << high) - 1n) >> BigInt(twos)) << BigInt(twos)
      const expected = power((1n << high) - 3n, 65_537n, modulus)
      expect(modexp.run(call(base, Uint8Array.of(1, 0, 1), bytesFromBigint(modulus, length)))).toEqual(bytesFromBigint(expected, length))
    }
  },
)

it('evm/modexp: handles an exponent of many pieces', () => {
  const exponent = new Uint8Array(9_000).map((_, i) => (i * 7) & 0xff)
  const expected = bytesFromBigint(power(3n, bigintFromBytes(exponent), 0xfffffffdn), 4)
  expect(modexp.run(call(Uint8Array.of(3), exponent, Uint8Array.of(0xff, 0xff, 0xff, 0xfd)))).toEqual(expected)
})

it('evm/modexp: releases the memory of a large call, and small calls need no additional memory', () => {
  const large = call(new Uint8Array(24_000).fill(7), Uint8Array.of(2), new Uint8Array(24_000).fill(9))
  expect(modexp.run(large)).toHaveLength(24_000)
  const small = call(Uint8Array.of(2), new Uint8Array(40).fill(1), Uint8Array.of(35))
  modexp.run(small)
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 3_000; i++) modexp.run(small)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20)
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

it('evm/modexp: reads missing input as zeros', () => {
  expect(modexp.run(new Uint8Array(0))).toEqual(new Uint8Array(0))
  expect(modexp.gas(new Uint8Array(0))).toBe(200n)
  const cut = call(Uint8Array.of(3), Uint8Array.of(2), Uint8Array.of(1, 0)).subarray(0, -1)
  expect(modexp.run(cut)).toEqual(Uint8Array.of(0, 9))
  expect(modexp.run(concatBytes(word(0), word(3), word(1)))).toEqual(Uint8Array.of(0))
})

it('evm/modexp: charges lengths near 2^256 without reading the numbers, and nothing when there is no work', () => {
  const huge = 2n ** 256n - 1n
  expect(modexp.gas(concatBytes(word(huge), word(huge), word(huge)))).toBeGreaterThan(2n ** 256n)
  expect(modexp.gas(concatBytes(word(0), word(huge), word(1)))).toBeGreaterThan(2n ** 250n)
  const nothing = concatBytes(word(0), word(huge), word(0))
  expect(modexp.gas(nothing)).toBe(200n)
  expect(modexp.run(nothing)).toEqual(new Uint8Array(0))
})

it('evm/modexp: rejects numbers that no block can pay for, without using memory', () => {
  const huge = 2n ** 25n
  for (const lengths of [
    [huge, 1n, 1n],
    [1n, 1n, huge],
    [2n ** 255n, 2n ** 255n, 2n ** 255n],
  ]) {
    const input = concatBytes(...lengths.map(word), Uint8Array.of(1))
    expect(modexp.gas(input)).toBeGreaterThan(10n ** 12n)
    expect(modexp.run(input)).toBeUndefined()
  }
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

it.each([
  // 16 for up to 32 bytes, above that twice the words squared; sixteen squarings for each byte beyond 32 (EIP-7883)
  ['nothing', 0, 0, 0, 0x00, 500n],
  ['32-byte numbers, exponent of 256 bits', 32, 32, 32, 0xff, 4080n],
  ['exponent of 64 bytes', 32, 64, 32, 0x01, 12_160n],
  ['33-byte numbers', 33, 32, 1, 0xff, 12_750n],
  ['the largest numbers, short exponent', 1024, 1, 1024, 0x03, 32_768n],
  ['the largest numbers', 1024, 1024, 1024, 0xff, 528_449_536n],
])('evm/modexp: price since Osaka of %s', (_what, base, exponent, modulus, first, gas) => {
  const exponentBytes = new Uint8Array(exponent)
  if (exponent > 0) exponentBytes[0] = first
  expect(modexpOsaka.gas(call(new Uint8Array(base), exponentBytes, new Uint8Array(modulus)))).toBe(gas)
})

it.each([
  ['base', 1025, 0, 0],
  ['exponent', 0, 1025, 0],
  ['modulus', 0, 0, 1025],
])('evm/modexp: from Osaka on rejects a %s of more than 1,024 bytes, also when there is little work', (_which, base, exponent, modulus) => {
  const lengths = [base, exponent, modulus]
  expect(modexpOsaka.run(concatBytes(...lengths.map(word)))).toBeUndefined()
  expect(modexpOsaka.run(concatBytes(...lengths.map((length) => word(Math.min(length, 1024)))))).toHaveLength(Math.min(modulus, 1024))
  expect(modexpOsaka.run(concatBytes(...lengths.map((length) => word(length === 0 ? 0 : 2n ** 256n - 1n))))).toBeUndefined()
  expect(modexp.run(concatBytes(...lengths.map(word)))).toHaveLength(modulus)
})
