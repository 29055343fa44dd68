import { randomBytes, randomInt } from 'node:crypto'
import { concatBytes, emptyBytes } from '#lib/bytes'
import { keccak256Of } from '#lib/keccak'
import { decodeRlpPrefix, encodeRlp, type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
import { publicKeyOf, recoverPublicKey, sharedSecret, signDigest } from '#lib/secp256k1'
import { createPrivateKey, decryptEcies, eciesOverhead, encryptEcies } from './ecies.ts'

/** Largest handshake packet that is read; the longest known one has about 700 bytes. */
const maxHandshakeBytes = 2_048
const version = 4

/** Thrown when a peer breaks the handshake. */
export class HandshakeError extends Error {}

/** Random values of one handshake. */
export type HandshakeRandom = { readonly ephemeralKey: Uint8Array; readonly nonce: Uint8Array }

export const createRandom = (): HandshakeRandom => ({ ephemeralKey: createPrivateKey(), nonce: new Uint8Array(randomBytes(32)) })

/** Keys of the frames, and the first bytes of both checksums. */
export type FrameSecrets = {
  readonly aes: Uint8Array
  readonly mac: Uint8Array
  readonly egress: Uint8Array
  readonly ingress: Uint8Array
}

/** Public facts of an initiator's first packet. */
export type Auth = { readonly publicKey: Uint8Array; readonly nonce: Uint8Array; readonly ephemeralPublicKey: Uint8Array }
/** Public facts of the recipient's response. */
export type Ack = { readonly nonce: Uint8Array; readonly ephemeralPublicKey: Uint8Array }

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] ?? 0))
}

function agree(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array {
  const secret = sharedSecret(publicKey, privateKey)
  if (secret === undefined) throw new HandshakeError('a public key is not a point of secp256k1')
  return secret
}

/** Encrypts a packet, with its length in front and random bytes at its end, so that packets of different nodes differ in length. */
function seal(publicKey: Uint8Array, fields: readonly RlpItem[]): Uint8Array {
  const body = concatBytes(encodeRlp(fields), new Uint8Array(randomBytes(randomInt(100, 300))))
  const length = body.length + eciesOverhead
  const prefix = Uint8Array.of(length >> 8, length & 0xff)
  return concatBytes(prefix, encryptEcies(publicKey, body, prefix))
}

/** Decrypts a packet with its length in front. Fields after the known ones, and bytes after the list, are ignored (EIP-8). */
function unseal(privateKey: Uint8Array, packet: Uint8Array): readonly RlpItem[] {
  const body = decryptEcies(privateKey, packet.subarray(2), packet.subarray(0, 2))
  if (body === undefined) throw new HandshakeError('the packet is not encrypted for this node')
  return rlpList(decodeRlpPrefix(body, 0).item, 'handshake')
}

/**
 * Creates the initiator's packet.
 * @param recipient public key of the node that was dialled
 */
export function sealAuth(privateKey: Uint8Array, recipient: Uint8Array, { ephemeralKey, nonce }: HandshakeRandom): Uint8Array {
  const { signature, yParity } = signDigest(xor(agree(recipient, privateKey), nonce), ephemeralKey)
  return seal(recipient, [concatBytes(signature, Uint8Array.of(yParity)), publicKeyOf(privateKey), nonce, Uint8Array.of(version)])
}

/** Reads an initiator's packet. @throws HandshakeError, RlpError */
export function openAuth(privateKey: Uint8Array, packet: Uint8Array): Auth {
  const [signature, key, nonceItem] = unseal(privateKey, packet)
  const publicKey = rlpBytes(key, 'public key', 64)
  const nonce = rlpBytes(nonceItem, 'nonce', 32)
  const signed = rlpBytes(signature, 'signature', 65)
  const digest = xor(agree(publicKey, privateKey), nonce)
  const parity = signed[64]
  const ephemeralPublicKey = parity === 0 || parity === 1 ? recoverPublicKey(digest, signed.subarray(0, 64), parity) : undefined
  if (ephemeralPublicKey === undefined) throw new HandshakeError('the signature is invalid')
  return { publicKey, nonce, ephemeralPublicKey }
}

/** Creates the recipient's packet. */
export function sealAck(initiator: Uint8Array, { ephemeralKey, nonce }: HandshakeRandom): Uint8Array {
  return seal(initiator, [publicKeyOf(ephemeralKey), nonce, Uint8Array.of(version)])
}

/** Reads the recipient's packet. @throws HandshakeError, RlpError */
export function openAck(privateKey: Uint8Array, packet: Uint8Array): Ack {
  const [key, nonce] = unseal(privateKey, packet)
  return { ephemeralPublicKey: rlpBytes(key, 'public key', 64), nonce: rlpBytes(nonce, 'nonce', 32) }
}

/**
 * Derives the secrets of the frames.
 * @param side of this node
 * @param peer nonce and ephemeral key of the other side
 * @param packets both packets as they were sent
 */
export function deriveSecrets(
  side: 'initiator' | 'recipient',
  own: HandshakeRandom,
  peer: Ack,
  packets: { readonly auth: Uint8Array; readonly ack: Uint8Array },
): FrameSecrets {
  const [initiatorNonce, recipientNonce] = side === 'initiator' ? [own.nonce, peer.nonce] : [peer.nonce, own.nonce]
  const ephemeral = agree(peer.ephemeralPublicKey, own.ephemeralKey)
  const aes = keccak256Of(ephemeral, keccak256Of(ephemeral, keccak256Of(recipientNonce, initiatorNonce)))
  const mac = keccak256Of(ephemeral, aes)
  const ofAuth = concatBytes(xor(mac, recipientNonce), packets.auth)
  const ofAck = concatBytes(xor(mac, initiatorNonce), packets.ack)
  return side === 'initiator' ? { aes, mac, egress: ofAuth, ingress: ofAck } : { aes, mac, egress: ofAck, ingress: ofAuth }
}

/** Returns the length of a handshake packet with its prefix; undefined: fewer than two bytes arrived. @throws HandshakeError beyond the bounds */
export function packetLength(received: Uint8Array = emptyBytes): number | undefined {
  const [high, low] = received
  if (high === undefined || low === undefined) return undefined
  const length = high * 256 + low + 2
  if (length <= eciesOverhead + 2 || length > maxHandshakeBytes) throw new HandshakeError(`a handshake packet of ${length} bytes`)
  return length
}
