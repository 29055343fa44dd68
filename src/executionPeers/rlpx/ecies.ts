import { createCipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { concatBytes } from '#lib/bytes'
import { isPrivateKey, publicKeyOf, sharedSecret } from '#lib/secp256k1'

/** Bytes that encryption adds: ephemeral public key with its prefix, initialization vector, tag. */
export const eciesOverhead: number = 65 + 16 + 32

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Returns a random private key. */
export function createPrivateKey(): Uint8Array {
  for (;;) {
    const key = new Uint8Array(randomBytes(32))
    if (isPrivateKey(key)) return key
  }
}

/** Derives the keys of encryption and of the tag from a shared secret: the concatenation KDF of NIST SP 800-56 with SHA-256. */
function deriveKeys(secret: Uint8Array): { readonly encryption: Uint8Array; readonly tag: Uint8Array } {
  const key = sha256(Uint8Array.of(0, 0, 0, 1), secret)
  return { encryption: key.subarray(0, 16), tag: sha256(key.subarray(16)) }
}

const cipherOf = (key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array => createCipheriv('aes-128-ctr', key, iv).update(data)

function tagOf(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/**
 * Encrypts a message for the owner of a public key.
 * @param publicKey x ‖ y, 64 bytes
 * @param authenticated data that the tag covers and the result does not contain
 * @throws RangeError when the public key is not a point of the curve
 * @see devp2p rlpx.md, "ECIES Encryption"
 */
export function encryptEcies(publicKey: Uint8Array, message: Uint8Array, authenticated: Uint8Array): Uint8Array {
  const ephemeral = createPrivateKey()
  const secret = sharedSecret(publicKey, ephemeral)
  if (secret === undefined) throw new RangeError('the public key is not a point of secp256k1')
  const { encryption, tag } = deriveKeys(secret)
  const iv = new Uint8Array(randomBytes(16))
  const encrypted = cipherOf(encryption, iv, message)
  return concatBytes(Uint8Array.of(4), publicKeyOf(ephemeral), iv, encrypted, tagOf(tag, iv, encrypted, authenticated))
}

/** Decrypts a message; undefined when it is malformed, or when its tag does not match. */
export function decryptEcies(privateKey: Uint8Array, data: Uint8Array, authenticated: Uint8Array): Uint8Array | undefined {
  if (data.length < eciesOverhead || data[0] !== 4) return undefined
  const secret = sharedSecret(data.subarray(1, 65), privateKey)
  if (secret === undefined) return undefined
  const { encryption, tag } = deriveKeys(secret)
  const end = data.length - 32
  const [iv, encrypted] = [data.subarray(65, 81), data.subarray(81, end)]
  if (!timingSafeEqual(tagOf(tag, iv, encrypted, authenticated), data.subarray(end))) return undefined
  return cipherOf(encryption, iv, encrypted)
}
