import { bn254 } from '@noble/curves/bn254.js'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { createNumbers, encodeNumbers, type Fp2, times } from '#test/harness/evm/curvePoints'
import { bn254Add, bn254Mul, bn254Pairing } from './bn254.ts'

type P1 = typeof bn254.G1.Point.BASE
type P2 = typeof bn254.G2.Point.BASE
const { Fp2: field2, Fr, Fp } = bn254.fields
const [one, two] = [bn254.G1.Point.BASE, bn254.G2.Point.BASE]
const next = createNumbers('bn254')

const g1Bytes = (p: P1): Uint8Array => (p.is0() ? new Uint8Array(64) : encodeNumbers(32, p.toAffine().x, p.toAffine().y))
const g2Bytes = ({ x, y }: { x: Fp2; y: Fp2 }): Uint8Array => encodeNumbers(32, x.c1, x.c0, y.c1, y.c0)
const pointBytes = (p: P2): Uint8Array => (p.is0() ? new Uint8Array(128) : g2Bytes(p.toAffine()))
const scalar = (): bigint => (next() % (Fr.ORDER - 1n)) + 1n
const word = (value: bigint): Uint8Array => encodeNumbers(32, value)

/** Returns a point of the twist that is most likely outside the subgroup. */
function twistPoint(): P2 {
  for (;;) {
    const x = { c0: next() % Fp.ORDER, c1: next() % Fp.ORDER }
    const right = field2.add(field2.mul(field2.sqr(x), x), bn254.G2.Point.CURVE().b)
    try {
      return bn254.G2.Point.fromAffine({ x, y: field2.sqrt(right) })
    } catch {}
  }
}

it("evm/bn254: sums and multiples of random points equal the oracle's", () => {
  for (let i = 0; i < 10; i++) {
    const [a, b, k] = [one.multiply(scalar()), one.multiply(scalar()), next()]
    expect(bn254Add.run(concatBytes(g1Bytes(a), g1Bytes(b)))).toEqual(g1Bytes(a.add(b)))
    expect(bn254Mul.run(concatBytes(g1Bytes(a), word(k)))).toEqual(g1Bytes(a.multiply(k % Fr.ORDER)))
  }
})

it('evm/bn254: adds the same point, the opposite point and infinity', () => {
  const a = one.multiply(7n)
  expect(bn254Add.run(concatBytes(g1Bytes(a), g1Bytes(a)))).toEqual(g1Bytes(a.double()))
  expect(bn254Add.run(concatBytes(g1Bytes(a), g1Bytes(a.negate())))).toEqual(new Uint8Array(64))
  expect(bn254Add.run(g1Bytes(a))).toEqual(g1Bytes(a))
  expect(bn254Add.run(new Uint8Array(0))).toEqual(new Uint8Array(64))
})

it('evm/bn254: reduces scalars modulo the order, up to 2^256 − 1', () => {
  const a = one.multiply(11n)
  const multiple = (k: bigint): Uint8Array | undefined => bn254Mul.run(concatBytes(g1Bytes(a), word(k)))
  expect(multiple(0n)).toEqual(new Uint8Array(64))
  expect(multiple(Fr.ORDER)).toEqual(new Uint8Array(64))
  expect(multiple(Fr.ORDER - 1n)).toEqual(g1Bytes(a.negate()))
  expect(multiple(2n ** 256n - 1n)).toEqual(g1Bytes(a.multiply((2n ** 256n - 1n) % Fr.ORDER)))
})

it('evm/bn254: rejects coordinates at or above the modulus and points off the curve', () => {
  const { x, y } = one.toAffine()
  expect(bn254Add.run(encodeNumbers(32, x + Fp.ORDER, y))).toBeUndefined()
  expect(bn254Add.run(encodeNumbers(32, x, y + Fp.ORDER))).toBeUndefined()
  expect(bn254Add.run(encodeNumbers(32, Fp.ORDER, Fp.ORDER))).toBeUndefined()
  expect(bn254Mul.run(encodeNumbers(32, x, y + 1n, 2n))).toBeUndefined()
  expect(bn254Mul.run(encodeNumbers(32, 0n, 1n, 2n))).toBeUndefined()
})

it('evm/bn254: e(aP, bQ) · e(−abP, Q) is one, and differs from one with a wrong factor; a pairing with infinity is one', () => {
  for (let i = 0; i < 3; i++) {
    const [a, b] = [scalar(), scalar()]
    const pairs = (k: bigint): Uint8Array =>
      concatBytes(g1Bytes(one.multiply(a)), pointBytes(two.multiply(b)), g1Bytes(one.multiply(k).negate()), pointBytes(two))
    expect(bn254Pairing.run(pairs((a * b) % Fr.ORDER))).toEqual(word(1n))
    expect(bn254Pairing.run(pairs((a * b + 1n) % Fr.ORDER))).toEqual(word(0n))
  }
  const nothing = concatBytes(new Uint8Array(64), pointBytes(two), g1Bytes(one), new Uint8Array(128))
  expect(bn254Pairing.run(nothing)).toEqual(word(1n))
  expect(bn254Pairing.run(new Uint8Array(0))).toEqual(word(1n))
  expect(bn254Pairing.run(nothing.subarray(1))).toBeUndefined()
})

it('evm/bn254: rejects twist points outside the subgroup, also those of small order', () => {
  const order = bn254.G2.Point.CURVE().h * Fr.ORDER
  for (let i = 0; i < 2; i++) {
    const outside = twistPoint()
    expect(bn254Pairing.run(concatBytes(new Uint8Array(64), pointBytes(outside)))).toBeUndefined()
    for (const small of [10_069n, 5_864_401n]) {
      const point = times(outside, order / small, bn254.G2.Point.ZERO)
      expect(point.is0()).toBe(false)
      expect(times(point, small, bn254.G2.Point.ZERO).is0()).toBe(true)
      expect(bn254Pairing.run(concatBytes(g1Bytes(one), pointBytes(point)))).toBeUndefined()
    }
    const inside = times(outside, bn254.G2.Point.CURVE().h, bn254.G2.Point.ZERO)
    expect(bn254Pairing.run(concatBytes(new Uint8Array(64), pointBytes(inside)))).toEqual(word(1n))
  }
})

it('evm/bn254: prices', () => {
  expect(bn254Add.gas(new Uint8Array(0))).toBe(150n)
  expect(bn254Mul.gas(new Uint8Array(0))).toBe(6000n)
  expect([0, 191, 192, 400].map((n) => bn254Pairing.gas(new Uint8Array(n)))).toEqual([45_000n, 45_000n, 79_000n, 113_000n])
})
