import { bytesFromBigint, concatBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256, keccak256Of } from '#lib/keccak'
import { recoverAddress } from '#lib/secp256k1'
import { type Address, addressFromBytes, type Hash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { type DecodedPayload, decodePayload, encodePayload } from './payloadSsz.ts'
import type { BlockVersion } from './topics.ts'

const signatureBytes = 65
const rootBytes = 32
/** Minimum size of a decompressed message: a signature and one byte. */
const minMessageBytes = 66

/** Signature over a body: r ‖ s, and the recovery id. */
export type BlockSignature = { readonly signature: Uint8Array; readonly yParity: 0 | 1 }

/** A decompressed message: the signature and the signed body, as views. */
export type Envelope = { readonly signature: Uint8Array; readonly recoveryId: number; readonly body: Uint8Array }

/** Splits a decompressed message; undefined: it is too short. */
export function splitEnvelope(message: Uint8Array): Envelope | undefined {
  if (message.length < minMessageBytes) return undefined
  return { signature: message.subarray(0, 64), recoveryId: message[64] ?? 0, body: message.subarray(signatureBytes) }
}

export const joinEnvelope = ({ signature, yParity }: BlockSignature, body: Uint8Array): Uint8Array =>
  concatBytes(signature, Uint8Array.of(yParity), body)

/** Bytes before the SSZ payload in a body: the parent beacon block root from Ecotone on. */
const prefixBytes = (version: BlockVersion): number => (version >= 2 ? rootBytes : 0)

/** Returns the SSZ payload of a body, as a view. */
export const sszOfBody = (body: Uint8Array, version: BlockVersion): Uint8Array => body.subarray(prefixBytes(version))

export function decodeBody(body: Uint8Array, version: BlockVersion): DecodedPayload {
  const decoded = decodePayload(sszOfBody(body, version), version)
  if (decoded.kind === 'malformed' || version < 2) return decoded
  const parentBeaconBlockRoot = toHex(body.subarray(0, rootBytes)) as Hash
  return { kind: 'payload', payload: { ...decoded.payload, parentBeaconBlockRoot } }
}

export function encodeBody(payload: Payload, version: BlockVersion): Uint8Array {
  const ssz = encodePayload(payload, version)
  return version >= 2 ? concatBytes(fromHex(payload.parentBeaconBlockRoot ?? zeroHash), ssz) : ssz
}

const domain = new Uint8Array(32)

/** Returns the digest that the sequencer signs. @see specs protocol/rollup-node-p2p.md, "Block signatures" */
export function signingHash(chainId: number, body: Uint8Array): Uint8Array {
  return keccak256Of(domain, padLeft(bytesFromBigint(BigInt(chainId), 8), 32), keccak256(body))
}

/** Returns the address that signed a message; undefined: the signature is invalid. */
export function signerOf({ signature, recoveryId, body }: Envelope, chainId: number): Address | undefined {
  if (recoveryId !== 0 && recoveryId !== 1) return undefined
  const address = recoverAddress(signingHash(chainId, body), signature, recoveryId)
  return address && addressFromBytes(address)
}
