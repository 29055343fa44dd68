import { concatBytes } from '#lib/bytes'
import { type Mcl, mclSizes } from '#lib/mcl'
import { isZero } from './precompile.ts'

const { fp, fp2 } = mclSizes

/** Sizes of encoded elements and points. Each field element takes 64 bytes, the first 16 of them zero. */
export const encodedSizes = { fp: 64, fp2: 128, g1: 128, g2: 256 } as const

/**
 * Reads an encoded field element. Encodings follow EIP-2537, "Fine points and encoding of base elements". The readers return false for values that
 * are
 * not field elements or not points of the curve; zeros encode the point at infinity. They do not check the subgroup: see `isValidOrder`.
 */
export function readFp(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  return isZero(bytes.subarray(0, 16)) && mcl.setFp(at, bytes.subarray(16, 64))
}

/** Reads c0 ‖ c1, the encoding of c0 + c1 · v. */
export function readFp2(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  return readFp(mcl, at, bytes.subarray(0, 64)) && readFp(mcl, at + fp, bytes.subarray(64, 128))
}

export function readG1(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  if (isZero(bytes)) {
    mcl.fn.mclBnG1_clear(at)
    return true
  }
  if (!readFp(mcl, at, bytes.subarray(0, 64)) || !readFp(mcl, at + fp, bytes.subarray(64, 128))) return false
  mcl.fn.mclBnFp_setInt32(at + 2 * fp, 1)
  return mcl.fn.mclBnG1_isValid(at) === 1
}

export function readG2(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  if (isZero(bytes)) {
    mcl.fn.mclBnG2_clear(at)
    return true
  }
  if (!readFp2(mcl, at, bytes.subarray(0, 128)) || !readFp2(mcl, at + fp2, bytes.subarray(128, 256))) return false
  mcl.fn.mclBnFp_setInt32(at + 2 * fp2, 1)
  mcl.fn.mclBnFp_setInt32(at + 2 * fp2 + fp, 0)
  return mcl.fn.mclBnG2_isValid(at) === 1
}

export function writeG1(mcl: Mcl, at: number): Uint8Array {
  if (mcl.fn.mclBnG1_isZero(at) === 1) return new Uint8Array(encodedSizes.g1)
  mcl.fn.mclBnG1_normalize(at, at)
  return writeElements(mcl, at, 2)
}

export function writeG2(mcl: Mcl, at: number): Uint8Array {
  if (mcl.fn.mclBnG2_isZero(at) === 1) return new Uint8Array(encodedSizes.g2)
  mcl.fn.mclBnG2_normalize(at, at)
  return writeElements(mcl, at, 4)
}

function writeElements(mcl: Mcl, at: number, count: number): Uint8Array {
  const padding = new Uint8Array(16)
  return concatBytes(...Array.from({ length: count }, (_, i) => [padding, mcl.fpBytes(at + i * fp)]).flat())
}
