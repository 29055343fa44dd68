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

/** Returns the public key without its prefix: x ‖ y, 64 bytes. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return secp256k1.publicKeyCreate(privateKey, false).subarray(1)
}

/** Returns the compressed public key: 33 bytes. */
export const compressedKeyOf = (privateKey: Uint8Array): Uint8Array => secp256k1.publicKeyCreate(privateKey, true)

/** Recovers the public key, x ‖ y, that signed the digest; undefined when the signature is invalid. */
export function recoverPublicKey(digest: Uint8Array, signature: Uint8Array, yParity: 0 | 1): Uint8Array | undefined {
  try {
    return secp256k1.ecdsaRecover(signature, yParity, digest, false).subarray(1)
  } catch {
    return undefined
  }
}

/** Adds the prefix of an uncompressed public key. */
const prefixed = (publicKey: Uint8Array): Uint8Array => Uint8Array.of(4, ...publicKey)

/**
 * Computes the shared secret of ECDH: the x coordinate of the product, 32 bytes.
 * @param publicKey x ‖ y, 64 bytes
 * @returns undefined when the public key is not a point of the curve
 */
export function sharedSecret(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array | undefined {
  try {
    return secp256k1.ecdh(prefixed(publicKey), privateKey, { hashfn: (x) => Uint8Array.from(x) }, new Uint8Array(32))
  } catch {
    return undefined
  }
}

/**
 * Computes the shared point of ECDH, compressed: 33 bytes.
 * @param publicKey x ‖ y, 64 bytes
 * @returns undefined when the public key is not a point of the curve
 */
export function sharedPoint(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array | undefined {
  const hashfn = (x: Uint8Array, y: Uint8Array): Uint8Array => Uint8Array.of(2 + ((y[31] ?? 0) & 1), ...x)
  try {
    return secp256k1.ecdh(prefixed(publicKey), privateKey, { hashfn }, new Uint8Array(33))
  } catch {
    return undefined
  }
}

/** Returns whether a signature, r ‖ s with low s, of a digest is that of a public key, x ‖ y. */
export function isSignatureOf(publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  try {
    return secp256k1.ecdsaVerify(signature, digest, prefixed(publicKey))
  } catch {
    return false
  }
}

/** Returns the public key without its prefix, x ‖ y, of a compressed one. RangeError when it is no point of the curve. */
export function uncompressedKey(compressed: Uint8Array): Uint8Array {
  return secp256k1.publicKeyConvert(compressed, false).subarray(1)
}

export const isPrivateKey = (key: Uint8Array): boolean => key.length === 32 && secp256k1.privateKeyVerify(key)
