import { bls12_381 } from '@noble/curves/bls12-381.js'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { createNumbers, encodeNumbers, type Fp2, times } from '#test/harness/evm/curvePoints'
import { blsG1Add, blsG1Msm, blsG2Add, blsG2Msm, blsMapFp2ToG2, blsMapFpToG1, blsPairing } from './bls12381.ts'

const { G1, G2, fields } = bls12_381
const { Fp, Fp2: field2, Fr } = fields
type P1 = typeof G1.Point.BASE
type P2 = typeof G2.Point.BASE
const [one, two] = [G1.Point.BASE, G2.Point.BASE]
const next = createNumbers('bls12-381')
const scalar = (): bigint => (next() % (Fr.ORDER - 1n)) + 1n
const element = (): bigint => ((next() << 200n) ^ next()) % Fp.ORDER

/** Map-to-curve of the oracle, cast to its actual types; the declared types are wrong. */
const mapToG1 = G1.mapToCurve as unknown as (u: bigint) => P1
const mapToG2 = G2.mapToCurve as unknown as (u: bigint[]) => P2

const g1Bytes = (p: P1): Uint8Array => (p.is0() ? new Uint8Array(128) : encodeNumbers(64, p.toAffine().x, p.toAffine().y))
const affine2 = ({ x, y }: { x: Fp2; y: Fp2 }): Uint8Array => encodeNumbers(64, x.c0, x.c1, y.c0, y.c1)
const g2Bytes = (p: P2): Uint8Array => (p.is0() ? new Uint8Array(256) : affine2(p.toAffine()))
const word = (value: bigint): Uint8Array => encodeNumbers(32, value)

/** Returns random points of the curves, most likely outside the subgroups. */
function curvePoint(): P1 {
  for (;;) {
    const x = element()
    try {
      return G1.Point.fromAffine({ x, y: Fp.sqrt(Fp.add(Fp.mul(Fp.sqr(x), x), 4n)) })
    } catch {}
  }
}
function twistPoint(): P2 {
  for (;;) {
    const x = { c0: element(), c1: element() }
    try {
      return G2.Point.fromAffine({ x, y: field2.sqrt(field2.add(field2.mul(field2.sqr(x), x), { c0: 4n, c1: 4n })) })
    } catch {}
  }
}

it("evm/bls12381: sums equal the oracle's, also for points outside the subgroup", () => {
  for (let i = 0; i < 5; i++) {
    const [a, b, c, d] = [curvePoint(), curvePoint(), twistPoint(), twistPoint()]
    expect(blsG1Add.run(concatBytes(g1Bytes(a), g1Bytes(b)))).toEqual(g1Bytes(a.add(b)))
    expect(blsG2Add.run(concatBytes(g2Bytes(c), g2Bytes(d)))).toEqual(g2Bytes(c.add(d)))
  }
  const [a, c] = [curvePoint(), twistPoint()]
  expect(blsG1Add.run(concatBytes(g1Bytes(a), g1Bytes(a)))).toEqual(g1Bytes(a.double()))
  expect(blsG1Add.run(concatBytes(g1Bytes(a), g1Bytes(a.negate())))).toEqual(new Uint8Array(128))
  expect(blsG2Add.run(concatBytes(g2Bytes(c), g2Bytes(c)))).toEqual(g2Bytes(c.double()))
  expect(blsG2Add.run(concatBytes(g2Bytes(c), g2Bytes(c.negate())))).toEqual(new Uint8Array(256))
})

it.each([1, 2, 5, 17])(
  'evm/bls12381: the weighted sum of %i terms equals the oracle’s, including zero points and large scalars',
  (count) => {
    let [sum1, sum2] = [G1.Point.ZERO, G2.Point.ZERO]
    const terms1: Uint8Array[] = []
    const terms2: Uint8Array[] = []
    for (let i = 0; i < count; i++) {
      const [p, q] = i % 7 === 3 ? [G1.Point.ZERO, G2.Point.ZERO] : [one.multiply(scalar()), two.multiply(scalar())]
      const k = i % 5 === 4 ? 2n ** 256n - 1n - BigInt(i) : i % 11 === 1 ? 0n : next()
      sum1 = sum1.add(times(p, k % Fr.ORDER, G1.Point.ZERO))
      sum2 = sum2.add(times(q, k % Fr.ORDER, G2.Point.ZERO))
      terms1.push(g1Bytes(p), word(k))
      terms2.push(g2Bytes(q), word(k))
    }
    expect(blsG1Msm.run(concatBytes(...terms1))).toEqual(g1Bytes(sum1))
    expect(blsG2Msm.run(concatBytes(...terms2))).toEqual(g2Bytes(sum2))
  },
)

it('evm/bls12381: multiplication and pairing reject points outside the subgroup, also those of small order', () => {
  const [h1, h2] = [G1.Point.CURVE().h, G2.Point.CURVE().h]
  const [outside1, outside2] = [curvePoint(), twistPoint()]
  const points1 = [outside1, ...[3n, 11n, 10_177n].map((small) => times(outside1, (h1 * Fr.ORDER) / small, G1.Point.ZERO))]
  const points2 = [outside2, ...[13n, 23n, 2713n].map((small) => times(outside2, (h2 * Fr.ORDER) / small, G2.Point.ZERO))]
  for (const p of [...points1, G1.Point.fromAffine({ x: 0n, y: 2n })].filter((point) => !point.is0())) {
    expect(blsG1Add.run(concatBytes(g1Bytes(p), new Uint8Array(128)))).toEqual(g1Bytes(p))
    expect(blsG1Msm.run(concatBytes(g1Bytes(p), word(1n)))).toBeUndefined()
    expect(blsG1Msm.run(concatBytes(g1Bytes(one.add(p)), word(0n)))).toBeUndefined()
    expect(blsPairing.run(concatBytes(g1Bytes(p), new Uint8Array(256)))).toBeUndefined()
  }
  for (const q of points2.filter((point) => !point.is0())) {
    expect(blsG2Add.run(concatBytes(g2Bytes(q), new Uint8Array(256)))).toEqual(g2Bytes(q))
    expect(blsG2Msm.run(concatBytes(g2Bytes(q), word(1n)))).toBeUndefined()
    expect(blsG2Msm.run(concatBytes(g2Bytes(two.add(q)), word(0n)))).toBeUndefined()
    expect(blsPairing.run(concatBytes(new Uint8Array(128), g2Bytes(q)))).toBeUndefined()
  }
})

it('evm/bls12381: e(aP, bQ) · e(−abP, Q) is one, and differs from one with a wrong factor; a pairing with infinity is one', () => {
  const [a, b] = [scalar(), scalar()]
  const pairs = (k: bigint): Uint8Array =>
    concatBytes(g1Bytes(one.multiply(a)), g2Bytes(two.multiply(b)), g1Bytes(one.multiply(k).negate()), g2Bytes(two))
  expect(blsPairing.run(pairs((a * b) % Fr.ORDER))).toEqual(word(1n))
  expect(blsPairing.run(pairs((a * b + 1n) % Fr.ORDER))).toEqual(word(0n))
  expect(blsPairing.run(concatBytes(new Uint8Array(128), g2Bytes(two)))).toEqual(word(1n))
  expect(blsPairing.run(concatBytes(g1Bytes(one), new Uint8Array(256)))).toEqual(word(1n))
})

it('evm/bls12381: maps field elements to the same points as the oracle', () => {
  for (const u of [0n, 1n, Fp.ORDER - 1n, element(), element(), element()]) {
    expect(blsMapFpToG1.run(encodeNumbers(64, u))).toEqual(g1Bytes(mapToG1(u)))
    const v = element()
    expect(blsMapFp2ToG2.run(encodeNumbers(64, u, v))).toEqual(g2Bytes(mapToG2([u, v])))
  }
})

it('evm/bls12381: rejects elements at or above the modulus, non-zero padding and wrong lengths', () => {
  const { x, y } = one.toAffine()
  const padded = g1Bytes(one)
  padded[0] = 1
  expect(blsG1Add.run(encodeNumbers(64, x + Fp.ORDER, y, 0n, 0n))).toBeUndefined()
  expect(blsG1Add.run(concatBytes(padded, g1Bytes(one)))).toBeUndefined()
  expect(blsG1Add.run(encodeNumbers(64, x, y + 1n, 0n, 0n))).toBeUndefined()
  expect(blsMapFpToG1.run(encodeNumbers(64, Fp.ORDER))).toBeUndefined()
  expect(blsMapFp2ToG2.run(encodeNumbers(64, 0n, Fp.ORDER))).toBeUndefined()
  for (const precompile of [blsG1Add, blsG1Msm, blsG2Add, blsG2Msm, blsPairing, blsMapFpToG1, blsMapFp2ToG2]) {
    expect(precompile.run(new Uint8Array(0))).toBeUndefined()
    expect(precompile.run(new Uint8Array(63))).toBeUndefined()
    expect(precompile.run(new Uint8Array(513))).toBeUndefined()
  }
})

it('evm/bls12381: charges by number of terms; the discount is constant from 128 on', () => {
  const terms = (count: number, bytes: number): Uint8Array => new Uint8Array(count * bytes)
  expect([0, 1, 2, 128, 129].map((n) => blsG1Msm.gas(terms(n, 160)))).toEqual([0n, 12_000n, 22_776n, 797_184n, 803_412n])
  expect([0, 1, 2, 128, 129].map((n) => blsG2Msm.gas(terms(n, 288)))).toEqual([0n, 22_500n, 45_000n, 1_509_120n, 1_520_910n])
  expect(blsPairing.gas(new Uint8Array(385))).toBe(70_300n)
})
