import { createRequire } from 'node:module'
import type Secp256k1 from 'secp256k1'
import { keccak256 } from './keccak.ts'

const secp256k1: typeof Secp256k1 = createRequire(import.meta.url)('secp256k1')

export const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** Half of the group order. Signatures with a higher s are invalid since Homestead (EIP-2). */
export const secp256k1HalfOrder: bigint = secp256k1Order / 2n

/**
 * Recovers the address whose key signed the digest.
 * @param digest 32 bytes
 * @param signature r ‖ s, 64 bytes
 * @returns 20 bytes, or undefined when the signature is invalid
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array, yParity: 0 | 1): Uint8Array | undefined {
  try {
    const publicKey = secp256k1.ecdsaRecover(signature, yParity, digest, false)
    return keccak256(publicKey.subarray(1)).subarray(12)
  } catch {
    return undefined
  }
}

/** Signs a digest with low s (EIP-2). @returns r ‖ s and the parity of R's y */
export function signDigest(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; yParity: 0 | 1 } {
  const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
  return { signature, yParity: recid === 1 ? 1 : 0 }
}

export function addressOfKey(privateKey: Uint8Array): Uint8Array {
  return keccak256(secp256k1.publicKeyCreate(privateKey, false).subarray(1)).subarray(12)
}
