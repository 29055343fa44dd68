import { p256 } from '@noble/curves/nist.js'
import { expect, it } from 'vitest'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { createNumbers, encodeNumbers } from '#test/harness/curvePoints'
import { p256Verify } from './p256Verify.ts'

const { n: order, p: prime } = p256.Point.CURVE()
const next = createNumbers('p256')
const { run, gas } = p256Verify(3450)
const yes = bytesFromBigint(1n, 32)
const no = new Uint8Array(0)

function signed(
  privateKey = (next() % (order - 1n)) + 1n,
  hash = next(),
): { digest: Uint8Array; r: bigint; s: bigint; x: bigint; y: bigint } {
  const key = bytesFromBigint(privateKey, 32)
  const digest = bytesFromBigint(hash, 32)
  const signature = p256.sign(digest, key, { prehash: false, lowS: false, format: 'compact' })
  const { r, s } = p256.Signature.fromBytes(signature, 'compact')
  return { digest, r, s, ...p256.Point.fromBytes(p256.getPublicKey(key)).toAffine() }
}

it('evm/p256Verify: signatures of the oracle hold, with either s; not for another digest, r, s or key', () => {
  for (let i = 0; i < 15; i++) {
    const { digest, r, s, x, y } = signed()
    const other = Uint8Array.from(digest)
    other[5] = (other[5] ?? 0) ^ 4
    expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, y)))).toEqual(yes)
    expect(run(concatBytes(digest, encodeNumbers(32, r, order - s, x, y)))).toEqual(yes)
    expect(run(concatBytes(other, encodeNumbers(32, r, s, x, y)))).toEqual(no)
    expect(run(concatBytes(digest, encodeNumbers(32, r ^ 1n, s, x, y)))).toEqual(no)
    expect(run(concatBytes(digest, encodeNumbers(32, r, s ^ 1n, x, y)))).toEqual(no)
    expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, prime - y)))).toEqual(no)
  }
})

it('evm/p256Verify: the base point and its opposite as keys, and a digest of zero or of the order, are like others', () => {
  for (const key of [1n, 2n, order - 1n, order - 2n]) {
    for (const hash of [0n, 1n, order, 2n ** 256n - 1n]) {
      const { digest, r, s, x, y } = signed(key, hash)
      expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, y)))).toEqual(yes)
      expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, prime - y)))).toEqual(hash % order === 0n ? yes : no)
    }
  }
})

it('evm/p256Verify: a sum at infinity is no signature', () => {
  const { x, y } = p256.Point.BASE.toAffine()
  const r = 5n
  // digest + r = 0 in the scalars: (digest / s) G + (r / s) G is nothing
  expect(run(encodeNumbers(32, order - r, r, 3n, x, y))).toEqual(no)
})

it('evm/p256Verify: numbers out of range, points off the curve and other lengths give no bytes', () => {
  const { digest, r, s, x, y } = signed()
  const parts = [
    [0n, s, x, y],
    [r, 0n, x, y],
    [order, s, x, y],
    [r, order, x, y],
    [r, s, 0n, 0n],
    [r, s, prime, y],
    [r, s, x, y ^ 1n],
  ]
  for (const numbers of parts) expect(run(concatBytes(digest, encodeNumbers(32, ...numbers)))).toEqual(no)
  const whole = concatBytes(digest, encodeNumbers(32, r, s, x, y))
  expect(run(whole.subarray(0, 159))).toEqual(no)
  expect(run(concatBytes(whole, Uint8Array.of(0)))).toEqual(no)
  expect(run(new Uint8Array(0))).toEqual(no)
  expect(run(new Uint8Array(160))).toEqual(no)
})

it('evm/p256Verify: costs what the rules say, whatever the input', () => {
  expect(gas(new Uint8Array(0))).toBe(3450n)
  expect(p256Verify(6900).gas(new Uint8Array(160))).toBe(6900n)
})
