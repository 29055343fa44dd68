import { type Cipheriv, createCipheriv } from 'node:crypto'
import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { RlpError } from '#lib/rlp'
import { maxPacketBytes } from '../endpoint.ts'

/** Header of a packet. `source`: id of the sender, 32 bytes; `nonce`: 12 bytes. */
export type Header =
  | { readonly kind: 'message'; readonly nonce: Uint8Array; readonly source: Uint8Array }
  | {
      readonly kind: 'whoAreYou'
      /** of the packet that could not be read */
      readonly nonce: Uint8Array
      /** 16 random bytes */
      readonly idNonce: Uint8Array
      /** sequence of the record of the other side that is known; 0: none */
      readonly enrSequence: number
    }
  | {
      readonly kind: 'handshake'
      readonly nonce: Uint8Array
      readonly source: Uint8Array
      readonly signature: Uint8Array
      /** compressed, 33 bytes */
      readonly ephemeralKey: Uint8Array
      /** absent: the other side has it */
      readonly record?: Uint8Array
    }

/** A packet without its mask. `authenticated`: initialization vector and header, which the tag of the message covers. */
export type Packet = { readonly header: Header; readonly authenticated: Uint8Array; readonly message: Uint8Array }

const flags = { message: 0, whoAreYou: 1, handshake: 2 } as const
const [ivBytes, staticBytes, idBytes, signatureBytes, keyBytes] = [16, 23, 32, 64, 33]
/** Offsets in a header. */
const [versionAt, flagAt, nonceAt, sizeAt] = [6, 8, 9, 21]
const version = 1
const minPacketBytes = 63

function authDataOf(header: Header): Uint8Array {
  switch (header.kind) {
    case 'message':
      return header.source
    case 'whoAreYou':
      return concatBytes(header.idNonce, u64Bytes(header.enrSequence))
    case 'handshake': {
      const { source, signature, ephemeralKey, record } = header
      return concatBytes(source, Uint8Array.of(signature.length, ephemeralKey.length), signature, ephemeralKey, record ?? new Uint8Array(0))
    }
  }
}

/** The mask is no secret: it hides the packets from filters of networks. @param destination id of the receiver */
const maskOf = (destination: Uint8Array, iv: Uint8Array): Cipheriv => createCipheriv('aes-128-ctr', destination.subarray(0, 16), iv)

/**
 * Encodes a packet.
 * @param protocol 6 ASCII characters that the packets of a network have in common
 * @param destination id of the receiver
 * @param iv 16 random bytes
 * @param encrypt encrypts the message; receives the bytes that its tag covers
 * @see discv5-wire.md, "Packet Encoding"
 */
export function encodePacket(
  protocol: string,
  destination: Uint8Array,
  iv: Uint8Array,
  header: Header,
  encrypt: (authenticated: Uint8Array) => Uint8Array,
): { readonly packet: Uint8Array; readonly authenticated: Uint8Array } {
  const authData = authDataOf(header)
  const head = new Uint8Array(staticBytes)
  head.set(Buffer.from(protocol, 'latin1'))
  head.set([0, version, flags[header.kind]], versionAt)
  head.set(header.nonce, nonceAt)
  head.set([authData.length >> 8, authData.length & 0xff], sizeAt)
  const plain = concatBytes(head, authData)
  const authenticated = concatBytes(iv, plain)
  const packet = concatBytes(iv, maskOf(destination, iv).update(plain), encrypt(authenticated))
  if (packet.length > maxPacketBytes) throw new RangeError(`packet of ${packet.length} bytes`)
  return { packet, authenticated }
}

/**
 * Removes the mask of a packet.
 * @param own id of this node
 * @returns undefined: a packet of another protocol
 * @throws RlpError when it is malformed
 */
export function decodePacket(protocol: string, own: Uint8Array, packet: Uint8Array): Packet | undefined {
  if (packet.length < minPacketBytes || packet.length > maxPacketBytes) return undefined
  const iv = packet.subarray(0, ivBytes)
  const mask = maskOf(own, iv)
  const head = mask.update(packet.subarray(ivBytes, ivBytes + staticBytes))
  if (head.toString('latin1', 0, versionAt) !== protocol) return undefined
  if (head.readUInt16BE(versionAt) !== version) throw new RlpError(`version ${head.readUInt16BE(versionAt)} of discovery`)
  const start = ivBytes + staticBytes
  const end = start + head.readUInt16BE(sizeAt)
  if (end > packet.length) throw new RlpError(`header of ${end} bytes in a packet of ${packet.length}`)
  const authData = mask.update(packet.subarray(start, end))
  const header = headerFrom(head[flagAt] ?? 0, new Uint8Array(head.subarray(nonceAt, sizeAt)), new Uint8Array(authData))
  return { header, authenticated: concatBytes(iv, head, authData), message: packet.subarray(end) }
}

function headerFrom(flag: number, nonce: Uint8Array, authData: Uint8Array): Header {
  const expect = (isRight: boolean): void => {
    if (!isRight) throw new RlpError(`header of kind ${flag} with ${authData.length} bytes`)
  }
  switch (flag) {
    case flags.message:
      expect(authData.length === idBytes)
      return { kind: 'message', nonce, source: authData }
    case flags.whoAreYou:
      expect(authData.length === 24)
      return { kind: 'whoAreYou', nonce, idNonce: authData.subarray(0, 16), enrSequence: u64FromBytes(authData.subarray(16)) }
    case flags.handshake: {
      const recordAt = idBytes + 2 + signatureBytes + keyBytes
      expect(authData.length >= recordAt && authData[idBytes] === signatureBytes && authData[idBytes + 1] === keyBytes)
      const at = idBytes + 2
      return {
        ...{ kind: 'handshake', nonce, source: authData.subarray(0, idBytes) },
        signature: authData.subarray(at, at + signatureBytes),
        ephemeralKey: authData.subarray(at + signatureBytes, recordAt),
        ...(authData.length > recordAt && { record: authData.subarray(recordAt) }),
      }
    }
    default:
      throw new RlpError(`packet of kind ${flag}`)
  }
}
