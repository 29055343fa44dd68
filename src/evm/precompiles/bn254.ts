import { concatBytes } from '#lib/bytes'
import { lazy } from '#lib/lazy'
import { createMcl, type Mcl, mclSizes } from '#lib/mcl'
import { booleanWord, isZero, type Precompile, readPadded } from './precompile.ts'

const { fp, fp2, g1, g2, gt, fr } = mclSizes
const pairBytes = 192

const curve = lazy(() => createMcl('bn254'))

/** Returns the number of pairs that the gas of a pairing counts. */
export const pairCount = (input: Uint8Array): bigint => BigInt(Math.floor(input.length / pairBytes))

/** Precompile 0x06: the sum of two points of 64 bytes. @see EIP-196, EIP-1108 */
export const bn254Add: Precompile = {
  gas: () => 150n,
  run(input): Uint8Array | undefined {
    const mcl = curve()
    const a = mcl.scratch(2 * g1)
    const b = a + g1
    if (!readG1(mcl, a, readPadded(input, 0, 64)) || !readG1(mcl, b, readPadded(input, 64, 64))) return undefined
    mcl.fn.mclBnG1_add(a, a, b)
    return writeG1(mcl, a)
  },
}

/** Precompile 0x07: a point times any 32-byte scalar. @see EIP-196, EIP-1108 */
export const bn254Mul: Precompile = {
  gas: () => 6000n,
  run(input): Uint8Array | undefined {
    const mcl = curve()
    const point = mcl.scratch(g1 + fr)
    const scalar = point + g1
    if (!readG1(mcl, point, readPadded(input, 0, 64))) return undefined
    mcl.setFrMod(scalar, readPadded(input, 64, 32))
    mcl.fn.mclBnG1_mul(point, point, scalar)
    return writeG1(mcl, point)
  },
}

/** Precompile 0x08: whether the product of the pairings is one. Points of G2 must be in the subgroup. @see EIP-197, EIP-1108 */
export const bn254Pairing: Precompile = {
  gas: (input) => 45_000n + 34_000n * pairCount(input),
  run(input): Uint8Array | undefined {
    if (input.length % pairBytes !== 0) return undefined
    const mcl = curve()
    const count = input.length / pairBytes
    const product = mcl.scratch(gt + count * (g1 + g2))
    const g1s = product + gt
    const g2s = g1s + count * g1
    let used = 0
    for (let i = 0; i < count; i++) {
      const pair = input.subarray(i * pairBytes, (i + 1) * pairBytes)
      const [p, q] = [g1s + used * g1, g2s + used * g2]
      if (!readG1(mcl, p, pair.subarray(0, 64)) || !readG2(mcl, q, pair.subarray(64))) return undefined
      if (mcl.fn.mclBnG1_isZero(p) === 0 && mcl.fn.mclBnG2_isZero(q) === 0) used++
    }
    if (used === 0) return booleanWord(true)
    mcl.fn.mclBn_millerLoopVec(product, g1s, g2s, used)
    mcl.fn.mclBn_finalExp(product, product)
    return booleanWord(mcl.fn.mclBnGT_isOne(product) === 1)
  },
}

/** Reads the point x ‖ y; zeros are the point at infinity. Returns false for other values. Every point of the curve is in the group. */
function readG1(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  if (isZero(bytes)) {
    mcl.fn.mclBnG1_clear(at)
    return true
  }
  if (!mcl.setFp(at, bytes.subarray(0, 32)) || !mcl.setFp(at + fp, bytes.subarray(32, 64))) return false
  mcl.fn.mclBnFp_setInt32(at + 2 * fp, 1)
  return mcl.fn.mclBnG1_isValid(at) === 1
}

/** Reads the point x ‖ y of the subgroup; a coordinate a + bi is encoded with b first. */
function readG2(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  if (isZero(bytes)) {
    mcl.fn.mclBnG2_clear(at)
    return true
  }
  for (let i = 0; i < 4; i++) {
    const to = at + (i ^ 1) * fp
    if (!mcl.setFp(to, bytes.subarray(32 * i, 32 * (i + 1)))) return false
  }
  mcl.fn.mclBnFp_setInt32(at + 2 * fp2, 1)
  mcl.fn.mclBnFp_setInt32(at + 2 * fp2 + fp, 0)
  return mcl.fn.mclBnG2_isValid(at) === 1 && mcl.fn.mclBnG2_isValidOrder(at) === 1
}

function writeG1(mcl: Mcl, at: number): Uint8Array {
  if (mcl.fn.mclBnG1_isZero(at) === 1) return new Uint8Array(64)
  mcl.fn.mclBnG1_normalize(at, at)
  return concatBytes(mcl.fpBytes(at), mcl.fpBytes(at + fp))
}
