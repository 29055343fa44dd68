import { emptyBytes } from '#lib/bytes'
import { lazy } from '#lib/lazy'
import { createMcl, type Mcl, mclSizes } from '#lib/mcl'
import { booleanWord, isZero, type Precompile } from './precompile.ts'

const { fp, fr, g1 } = mclSizes

const curve = lazy(() => createMcl('p256'))

/** 0x100: digest ‖ r ‖ s ‖ x ‖ y → one, or no bytes when the signature does not hold; it never fails. @see RIP-7212 */
export function p256Verify(gas: number): Precompile {
  return {
    gas: () => BigInt(gas),
    run: (input) => (input.length === 160 && verify(curve(), input) ? booleanWord(true) : emptyBytes),
  }
}

/** ECDSA as in FIPS 186-5, section 6.4.2: R = (digest / s) G + (r / s) Q, and r is the x of R. */
function verify(mcl: Mcl, input: Uint8Array): boolean {
  const { fn } = mcl
  const points = mcl.scratch(3 * g1 + 4 * fr)
  const [base, key, sum] = [points, points + g1, points + 2 * g1]
  const scalars = points + 3 * g1
  const [ofBase, ofKey, r, s] = [scalars, scalars + fr, scalars + 2 * fr, scalars + 3 * fr]
  if (!readKey(mcl, key, input.subarray(96))) return false
  if (!mcl.setFr(r, input.subarray(32, 64)) || !mcl.setFr(s, input.subarray(64, 96))) return false
  if (fn.mclBnFr_isZero(r) === 1 || fn.mclBnFr_isZero(s) === 1) return false
  fn.mclBnFr_inv(s, s)
  mcl.setFrMod(ofBase, input.subarray(0, 32))
  fn.mclBnFr_mul(ofBase, ofBase, s)
  fn.mclBnFr_mul(ofKey, r, s)
  fn.mclBnG1_getBasePoint(base)
  fn.mclBnG1_mulVec(sum, points, scalars, 2)
  if (fn.mclBnG1_isZero(sum) === 1) return false
  fn.mclBnG1_normalize(sum, sum)
  mcl.setFrMod(s, mcl.fpBytes(sum))
  return fn.mclBnFr_isEqual(s, r) === 1
}

function readKey(mcl: Mcl, at: number, bytes: Uint8Array): boolean {
  if (isZero(bytes)) return false
  if (!mcl.setFp(at, bytes.subarray(0, 32)) || !mcl.setFp(at + fp, bytes.subarray(32, 64))) return false
  mcl.fn.mclBnFp_setInt32(at + 2 * fp, 1)
  return mcl.fn.mclBnG1_isValid(at) === 1
}
