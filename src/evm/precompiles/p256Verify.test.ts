import { p256 } from '@noble/curves/nist.js'
import { expect, it } from 'vitest'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { createNumbers, encodeNumbers } from '#test/harness/evm/curvePoints'
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

it("evm/p256Verify: accepts the oracle's signatures with either s; rejects another digest, r, s or key", () => {
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

it('evm/p256Verify: handles the base point and its opposite as keys, and a digest of zero or of the order', () => {
  for (const key of [1n, 2n, order - 1n, order - 2n]) {
    for (const hash of [0n, 1n, order, 2n ** 256n - 1n]) {
      const { digest, r, s, x, y } = signed(key, hash)
      expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, y)))).toEqual(yes)
      expect(run(concatBytes(digest, encodeNumbers(32, r, s, x, prime - y)))).toEqual(hash % order === 0n ? yes : no)
    }
  }
})

it('evm/p256Verify: rejects a sum at infinity', () => {
  const { x, y } = p256.Point.BASE.toAffine()
  const r = 5n
  // digest + r = 0 as scalars: (digest / s) G + (r / s) G is infinity
  expect(run(encodeNumbers(32, order - r, r, 3n, x, y))).toEqual(no)
})

/** Returns a valid signature with the given multiples: r is the x of R = ofBase · G + ofKey · Q, s = r / ofKey, digest = ofBase · s. */
function composed(ofBase: bigint, ofKey: bigint, key: bigint): Uint8Array | undefined {
  const { Fn } = p256.Point
  const multiple = (ofBase + ofKey * key) % order
  if (multiple === 0n) return undefined
  const r = p256.Point.BASE.multiply(multiple).toAffine().x % order
  const s = Fn.div(r, ofKey)
  const { x, y } = p256.Point.BASE.multiply(key).toAffine()
  return encodeNumbers(32, Fn.mul(ofBase, s), r, s, x, y)
}

it('evm/p256Verify: handles sums that meet the added point or its opposite', () => {
  const scalars = [1n, 2n, 3n, 16n, 31n, 128n, order - 1n, order - 128n]
  for (const key of [1n, 2n, 127n, order - 1n]) {
    for (const ofBase of [0n, ...scalars]) {
      for (const ofKey of scalars) {
        const input = composed(ofBase, ofKey, key)
        if (input) expect(run(input), `${ofBase} ${ofKey} ${key}`).toEqual(yes)
      }
    }
  }
})

it('evm/p256Verify: reduces an x at or above the order modulo the order, and requires r plus the order to be below the modulus', () => {
  const { Fp, Fn } = p256.Point
  let found = 0
  for (let r = 1n; found < 4; r++) {
    const x = order + r
    const square = Fp.create(x * x * x - 3n * x + p256.Point.CURVE().b)
    if (Fp.pow(square, (prime - 1n) / 2n) !== 1n) continue
    found++
    const [s, hash] = [next() % order, next() % order]
    const point = p256.Point.fromAffine({ x, y: Fp.sqrt(square) })
    const key = point
      .multiply(Fn.div(s, r))
      .subtract(p256.Point.BASE.multiply(Fn.div(hash, r)))
      .toAffine()
    expect(run(encodeNumbers(32, hash, r, s, key.x, key.y))).toEqual(yes)
    expect(run(encodeNumbers(32, hash, r + 1n, s, key.x, key.y))).toEqual(no)
    expect(run(encodeNumbers(32, hash, x, s, key.x, key.y))).toEqual(no)
  }
  const { digest, s, x, y } = signed()
  expect(run(concatBytes(digest, encodeNumbers(32, prime - order, s, x, y)))).toEqual(no)
})

it('evm/p256Verify: agrees with the oracle on keys and numbers at the edges', () => {
  const edges = [0n, 1n, 2n, order - 1n, order, order + 1n, prime - 1n, prime, prime - order, 2n ** 256n - 1n, 2n ** 255n, 2n ** 128n]
  for (const edge of edges) {
    const { digest, r, s, x, y } = signed()
    for (const [i, numbers] of [
      [r, edge, x, y],
      [edge, s, x, y],
      [r, s, edge, y],
      [r, s, x, edge],
    ].entries()) {
      expect(run(concatBytes(digest, encodeNumbers(32, ...numbers))), `${i} ${edge}`).toEqual(no)
    }
  }
})

it('evm/p256Verify: returns no bytes for numbers out of range, points off the curve and other lengths', () => {
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

it('evm/p256Verify: charges the gas of the rules for any input', () => {
  expect(gas(new Uint8Array(0))).toBe(3450n)
  expect(p256Verify(6900).gas(new Uint8Array(160))).toBe(6900n)
})
