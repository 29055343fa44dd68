import { expect, it } from 'vitest'
import { bytesFromBigint } from './bytes.ts'
import { createMcl, mclSizes } from './mcl.ts'

const moduli = [
  [
    'bn254',
    32,
    0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
    0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
  ],
  [
    'bls12-381',
    48,
    0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
    0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n,
  ],
] as const

it.each(moduli)(
  'lib/mcl: %s accepts only field elements below the modulus, and reduces scalars modulo the order',
  (curve, width, prime, order) => {
    const mcl = createMcl(curve)
    const at = mcl.scratch(mclSizes.fp + mclSizes.fr)
    expect(mcl.fpLength).toBe(width)
    for (const value of [0n, 1n, 2n ** 200n + 3n, prime - 1n]) {
      expect(mcl.setFp(at, bytesFromBigint(value, width))).toBe(true)
      expect(mcl.fpBytes(at)).toEqual(bytesFromBigint(value, width))
    }
    expect(mcl.setFp(at, bytesFromBigint(prime, width))).toBe(false)
    expect(mcl.setFp(at, new Uint8Array(width).fill(0xff))).toBe(false)
    mcl.setFrMod(at, bytesFromBigint(order + 5n, 32))
    mcl.setFrMod(at + mclSizes.fr, bytesFromBigint(5n, 32))
    expect(mcl.fn.mclBnFr_isEqual(at, at + mclSizes.fr)).toBe(1)
  },
)

it('lib/mcl: curves do not share state, and memory grows on demand', () => {
  const [a, b] = [createMcl('bn254'), createMcl('bn254')]
  const [atA, atB] = [a.scratch(64), b.scratch(64)]
  a.setFp(atA, bytesFromBigint(7n, 32))
  b.setFp(atB, bytesFromBigint(8n, 32))
  expect(a.fpBytes(atA)).toEqual(bytesFromBigint(7n, 32))
  const far = a.scratch(20_000_000) + 19_999_000
  expect(a.setFp(far, bytesFromBigint(9n, 32))).toBe(true)
  expect(a.fpBytes(far)).toEqual(bytesFromBigint(9n, 32))
})
