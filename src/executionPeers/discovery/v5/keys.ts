import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { concatBytes } from '#lib/bytes'
import { isSignatureOf, sharedPoint, signDigest } from '#lib/secp256k1'
import { sha256 } from '#lib/sha256'

/** Keys of a session, 16 bytes each: of the side that sent the handshake, and of the one that answers it. */
export type SessionKeys = { readonly initiator: Uint8Array; readonly recipient: Uint8Array }

/** Ids of the sides of a handshake: hashes of their public keys, 32 bytes. */
export type HandshakeSides = { readonly initiator: Uint8Array; readonly recipient: Uint8Array }

const text = (value: string): Uint8Array => Buffer.from(value, 'latin1')
const tagBytes = 16

/**
 * Derives the keys of a session.
 * @param challenge the unmasked WHOAREYOU packet
 * @param publicKey x ‖ y of the other side: ephemeral for the recipient, of its identity for the initiator
 * @returns undefined when the public key is not a point of the curve
 * @see discv5-theory.md, "Handshake Steps"
 */
export function deriveKeys(
  publicKey: Uint8Array,
  privateKey: Uint8Array,
  challenge: Uint8Array,
  { initiator, recipient }: HandshakeSides,
): SessionKeys | undefined {
  const secret = sharedPoint(publicKey, privateKey)
  if (secret === undefined) return undefined
  const info = concatBytes(text('discovery v5 key agreement'), initiator, recipient)
  const keys = new Uint8Array(hkdfSync('sha256', secret, challenge, info, 32))
  return { initiator: keys.subarray(0, 16), recipient: keys.subarray(16) }
}

const proofDigest = (challenge: Uint8Array, ephemeralKey: Uint8Array, recipient: Uint8Array): Uint8Array =>
  sha256(concatBytes(text('discovery v5 identity proof'), challenge, ephemeralKey, recipient))

/** Signs a challenge: the proof of an identity. @param ephemeralKey compressed, 33 bytes @returns r ‖ s */
export function signChallenge(privateKey: Uint8Array, challenge: Uint8Array, ephemeralKey: Uint8Array, recipient: Uint8Array): Uint8Array {
  return signDigest(proofDigest(challenge, ephemeralKey, recipient), privateKey).signature
}

/** Returns whether a proof of an identity is that of a public key, x ‖ y. */
export function isProofOf(
  publicKey: Uint8Array,
  signature: Uint8Array,
  challenge: Uint8Array,
  ephemeralKey: Uint8Array,
  recipient: Uint8Array,
): boolean {
  return isSignatureOf(publicKey, proofDigest(challenge, ephemeralKey, recipient), signature)
}

/** Encrypts a message with AES-128-GCM. @param nonce 12 bytes @param authenticated data that the tag covers */
export function encryptMessage(key: Uint8Array, nonce: Uint8Array, message: Uint8Array, authenticated: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  cipher.setAAD(authenticated)
  return concatBytes(cipher.update(message), cipher.final(), cipher.getAuthTag())
}

/** Decrypts a message; undefined when it is of another key, or was changed. */
export function decryptMessage(
  key: Uint8Array,
  nonce: Uint8Array,
  encrypted: Uint8Array,
  authenticated: Uint8Array,
): Uint8Array | undefined {
  if (encrypted.length < tagBytes) return undefined
  const end = encrypted.length - tagBytes
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAAD(authenticated)
  decipher.setAuthTag(encrypted.subarray(end))
  try {
    return concatBytes(decipher.update(encrypted.subarray(0, end)), decipher.final())
  } catch {
    return undefined
  }
}
