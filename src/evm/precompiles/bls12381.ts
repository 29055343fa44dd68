import { lazy } from '#lib/lazy'
import { createMcl, type Mcl, mclSizes } from '#lib/mcl'
import { encodedSizes, readFp, readFp2, readG1, readG2, writeG1, writeG2 } from './bls12381Points.ts'
import { msmGas } from './msmGas.ts'
import { booleanWord, type Precompile } from './precompile.ts'

const scalarBytes = 32

const curve = lazy(() => createMcl('bls12-381'))

/** Operations that differ between the two groups. */
type Group = {
  /** Bytes of a point in the library's memory; `encodedSize` in the encoding. */
  readonly size: number
  readonly encodedSize: number
  read(mcl: Mcl, at: number, bytes: Uint8Array): boolean
  write(mcl: Mcl, at: number): Uint8Array
  isInfinity(mcl: Mcl, at: number): boolean
  isInSubgroup(mcl: Mcl, at: number): boolean
}

const g1: Group = {
  size: mclSizes.g1,
  encodedSize: encodedSizes.g1,
  read: readG1,
  write: writeG1,
  isInfinity: (mcl, at) => mcl.fn.mclBnG1_isZero(at) === 1,
  isInSubgroup: (mcl, at) => mcl.fn.mclBnG1_isValidOrder(at) === 1,
}

const g2: Group = {
  size: mclSizes.g2,
  encodedSize: encodedSizes.g2,
  read: readG2,
  write: writeG2,
  isInfinity: (mcl, at) => mcl.fn.mclBnG2_isZero(at) === 1,
  isInSubgroup: (mcl, at) => mcl.fn.mclBnG2_isValidOrder(at) === 1,
}

/** Precompile 0x0b: the sum of two points of the curve, in the subgroup or not. @see EIP-2537, "ABI for G1 addition" */
export const blsG1Add: Precompile = {
  gas: () => 375n,
  run: (input) => sum(g1, input, (mcl, at, other) => mcl.fn.mclBnG1_add(at, at, other)),
}

/** Precompile 0x0c: the sum of subgroup points, each multiplied by a scalar. @see EIP-2537, "ABI for G1 MSM" */
export const blsG1Msm: Precompile = {
  gas: (input) => msmGas('g1', Math.floor(input.length / (encodedSizes.g1 + scalarBytes))),
  run: (input) => weightedSum(g1, input, (mcl, to, points, scalars, count) => mcl.fn.mclBnG1_mulVec(to, points, scalars, count)),
}

/** Precompile 0x0d: like 0x0b for G2. @see EIP-2537, "ABI for G2 addition" */
export const blsG2Add: Precompile = {
  gas: () => 600n,
  run: (input) => sum(g2, input, (mcl, at, other) => mcl.fn.mclBnG2_add(at, at, other)),
}

/** Precompile 0x0e: like 0x0c for G2. @see EIP-2537, "ABI for G2 MSM" */
export const blsG2Msm: Precompile = {
  gas: (input) => msmGas('g2', Math.floor(input.length / (encodedSizes.g2 + scalarBytes))),
  run: (input) => weightedSum(g2, input, (mcl, to, points, scalars, count) => mcl.fn.mclBnG2_mulVec(to, points, scalars, count)),
}

/** Precompile 0x0f: whether the product of the pairings is one. @see EIP-2537, "ABI for pairing check" */
export const blsPairing: Precompile = {
  gas: (input) => 37_700n + 32_600n * BigInt(Math.floor(input.length / (encodedSizes.g1 + encodedSizes.g2))),
  run(input): Uint8Array | undefined {
    const pairBytes = encodedSizes.g1 + encodedSizes.g2
    if (input.length === 0 || input.length % pairBytes !== 0) return undefined
    const mcl = curve()
    const count = input.length / pairBytes
    const product = mcl.scratch(mclSizes.gt + count * (g1.size + g2.size))
    const g1s = product + mclSizes.gt
    const g2s = g1s + count * g1.size
    let used = 0
    for (let i = 0; i < count; i++) {
      const [p, q] = [g1s + used * g1.size, g2s + used * g2.size]
      const at = i * pairBytes
      if (!readMember(g1, mcl, p, input, at) || !readMember(g2, mcl, q, input, at + encodedSizes.g1)) return undefined
      if (!g1.isInfinity(mcl, p) && !g2.isInfinity(mcl, q)) used++
    }
    if (used === 0) return booleanWord(true)
    mcl.fn.mclBn_millerLoopVec(product, g1s, g2s, used)
    mcl.fn.mclBn_finalExp(product, product)
    return booleanWord(mcl.fn.mclBnGT_isOne(product) === 1)
  },
}

/** Precompile 0x10. @see EIP-2537, "ABI for mapping Fp element to G1 point" */
export const blsMapFpToG1: Precompile = {
  gas: () => 5500n,
  run(input): Uint8Array | undefined {
    if (input.length !== encodedSizes.fp) return undefined
    const mcl = curve()
    const point = mcl.scratch(g1.size + mclSizes.fp)
    const element = point + g1.size
    if (!readFp(mcl, element, input)) return undefined
    mcl.fn.mclBnFp_mapToG1(point, element)
    return writeG1(mcl, point)
  },
}

/** Precompile 0x11. @see EIP-2537, "ABI for mapping Fp2 element to G2 point" */
export const blsMapFp2ToG2: Precompile = {
  gas: () => 23_800n,
  run(input): Uint8Array | undefined {
    if (input.length !== encodedSizes.fp2) return undefined
    const mcl = curve()
    const point = mcl.scratch(g2.size + mclSizes.fp2)
    const element = point + g2.size
    if (!readFp2(mcl, element, input)) return undefined
    mcl.fn.mclBnFp2_mapToG2(point, element)
    return writeG2(mcl, point)
  },
}

/** Reads a subgroup point from the input at `from`. Returns false when it is not one. */
function readMember(group: Group, mcl: Mcl, at: number, input: Uint8Array, from: number): boolean {
  return group.read(mcl, at, input.subarray(from, from + group.encodedSize)) && group.isInSubgroup(mcl, at)
}

function sum(group: Group, input: Uint8Array, add: (mcl: Mcl, at: number, other: number) => void): Uint8Array | undefined {
  const { size, encodedSize } = group
  if (input.length !== 2 * encodedSize) return undefined
  const mcl = curve()
  const a = mcl.scratch(2 * size)
  if (!group.read(mcl, a, input.subarray(0, encodedSize)) || !group.read(mcl, a + size, input.subarray(encodedSize))) return undefined
  add(mcl, a, a + size)
  return group.write(mcl, a)
}

type MultiplyAll = (mcl: Mcl, to: number, points: number, scalars: number, count: number) => void

function weightedSum(group: Group, input: Uint8Array, multiplyAll: MultiplyAll): Uint8Array | undefined {
  const { size, encodedSize } = group
  const termBytes = encodedSize + scalarBytes
  if (input.length === 0 || input.length % termBytes !== 0) return undefined
  const mcl = curve()
  const count = input.length / termBytes
  const total = mcl.scratch(size + count * (size + mclSizes.fr))
  const points = total + size
  const scalars = points + count * size
  let used = 0
  for (let i = 0; i < count; i++) {
    const point = points + used * size
    const scalarAt = i * termBytes + encodedSize
    if (!readMember(group, mcl, point, input, i * termBytes)) return undefined
    mcl.setFrMod(scalars + used * mclSizes.fr, input.subarray(scalarAt, scalarAt + scalarBytes))
    if (!group.isInfinity(mcl, point)) used++
  }
  if (used === 0) return new Uint8Array(encodedSize)
  multiplyAll(mcl, total, points, scalars, used)
  return group.write(mcl, total)
}
