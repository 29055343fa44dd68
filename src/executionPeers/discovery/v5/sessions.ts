import { randomBytes } from 'node:crypto'
import { BoundedMap } from '#lib/boundedMap'
import { emptyBytes, equalBytes, latin1 } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { RlpError } from '#lib/rlp'
import { compressedKeyOf, publicKeyOf, uncompressedKey } from '#lib/secp256k1'
import { createPrivateKey } from '../../rlpx/ecies.ts'
import type { DiscoveryDeps } from '../deps.ts'
import { decodeRecord, type SignedRecord } from '../record.ts'
import type { UdpAddress } from '../socket.ts'
import { decryptMessage, deriveKeys, encryptMessage, isProofOf, signChallenge } from './keys.ts'
import { decodeMessage, encodeMessage, type Message } from './messages.ts'
import { decodePacket, encodePacket, type Header, type Packet } from './packets.ts'

/** A node at an address. `place`: its id, the hash of its public key, 32 bytes. */
export type Contact = UdpAddress & { readonly place: Uint8Array }
/** `publicKey`: x ‖ y */
export type Target = Contact & { readonly publicKey: Uint8Array }

export type SessionsDeps = Pick<DiscoveryDeps, 'clock' | 'socket' | 'own' | 'privateKey'> & {
  /** 6 characters that all packets of the network have */
  readonly protocol: string
  /** Returns what is known about a node. @param id hex of its place */
  readonly known: (id: string) => { readonly publicKey: Uint8Array; readonly record: SignedRecord | undefined } | undefined
  /** Receives the record of a node that has proved its identity and its address. */
  readonly onRecord: (record: SignedRecord, from: UdpAddress) => void
  readonly onMessage: (from: Contact, message: Message) => void
}

/** Keys for messages to a node and from it, at one address. `earlierRead`: of the session before, which the other side may still use. */
type Session = { readonly write: Uint8Array; readonly read: Uint8Array; readonly earlierRead: Uint8Array | undefined; sent: number }
type Challenge = { readonly packet: Uint8Array; readonly unmasked: Uint8Array; readonly untilMs: number }
/** A request that the other side may answer with a challenge. */
type Waiting = { readonly to: Target; readonly plain: Uint8Array; readonly untilMs: number }

const [maxSessions, maxChallenges, maxWaiting] = [1_024, 256, 512]
/** Time for the answer to a packet. */
const answerMs = 2_000
/** Random bytes in place of a message to a node without a session. */
const fillerBytes = 20

const random = (count: number): Uint8Array => new Uint8Array(randomBytes(count))
/** Sessions belong to a node at one address, so that an answer cannot be aimed at another one. */
const keyOf = ({ place, ip, udpPort }: Contact): string => `${toHex(place)}@${ip}:${udpPort}`

/** Returns a nonce that the session has not had: the count of its messages, and random bytes. */
function nextNonce(session: Session): Uint8Array {
  const nonce = randomBytes(12)
  nonce.writeUInt32BE(session.sent++ >>> 0)
  return new Uint8Array(nonce)
}

/** Packets of discovery v5: handshakes, encryption of messages, bounded state. @see discv5-theory.md, "Sessions" */
export class Sessions {
  readonly #deps: SessionsDeps
  /** id of this node */
  readonly place: Uint8Array
  readonly #sessions = new BoundedMap<string, Session>(maxSessions)
  readonly #challenges = new BoundedMap<string, Challenge>(maxChallenges)
  /** by nonce, latin1 */
  readonly #waiting = new BoundedMap<string, Waiting>(maxWaiting)

  constructor(deps: SessionsDeps) {
    this.#deps = deps
    this.place = keccak256(publicKeyOf(deps.privateKey))
  }

  /** Sends a request, after a handshake if one is needed. */
  request(to: Target, message: Message): void {
    const plain = encodeMessage(message)
    const session = this.#sessions.get(keyOf(to))
    const nonce = session ? nextNonce(session) : random(12)
    this.#waiting.set(latin1(nonce), { to, plain, untilMs: this.#deps.clock.elapsedMs() + answerMs })
    this.#send(to, { kind: 'message', nonce, source: this.place }, (authenticated) =>
      session ? encryptMessage(session.write, nonce, plain, authenticated) : random(fillerBytes),
    )
  }

  /** Answers a message in the session that it came with. */
  respond(to: Contact, message: Message): void {
    const session = this.#sessions.get(keyOf(to))
    if (session === undefined) return
    const nonce = nextNonce(session)
    this.#send(to, { kind: 'message', nonce, source: this.place }, (authenticated) =>
      encryptMessage(session.write, nonce, encodeMessage(message), authenticated),
    )
  }

  /** Reads a packet. @returns false: a packet of another protocol @throws RlpError when it is malformed, or a proof is wrong */
  read(bytes: Uint8Array, from: UdpAddress): boolean {
    const packet = decodePacket(this.#deps.protocol, this.place, bytes)
    if (packet === undefined) return false
    const { header } = packet
    if (header.kind === 'whoAreYou') this.#onChallenge(header, packet, from)
    else if (header.kind === 'handshake') this.#onHandshake(header, packet, { ...from, place: header.source })
    else this.#onMessage(header, packet, { ...from, place: header.source })
    return true
  }

  #send(to: Contact, header: Header, encrypt: (authenticated: Uint8Array) => Uint8Array): ReturnType<typeof encodePacket> {
    const encoded = encodePacket(this.#deps.protocol, to.place, random(16), header, encrypt)
    this.#deps.socket.send(encoded.packet, to)
    return encoded
  }

  #onMessage({ nonce }: Header, { message, authenticated }: Packet, from: Contact): void {
    const session = this.#sessions.get(keyOf(from))
    const decrypt = (key?: Uint8Array): Uint8Array | undefined => key && decryptMessage(key, nonce, message, authenticated)
    const plain = decrypt(session?.read) ?? decrypt(session?.earlierRead)
    if (plain === undefined) this.#challenge(nonce, from)
    else this.#deps.onMessage(from, decodeMessage(plain))
  }

  /** Sends a challenge. While one waits for its answer it is sent again, as go-ethereum does: a new one would void the answer to the first. */
  #challenge(nonce: Uint8Array, from: Contact): void {
    const pending = this.#challenges.get(keyOf(from))
    const nowMs = this.#deps.clock.elapsedMs()
    if (pending && pending.untilMs >= nowMs) {
      this.#deps.socket.send(pending.packet, from)
      return
    }
    const enrSequence = Number(this.#deps.known(toHex(from.place))?.record?.enr.seq ?? 0n)
    const header = { kind: 'whoAreYou', nonce, idNonce: random(16), enrSequence } as const
    const { packet, authenticated } = this.#send(from, header, () => emptyBytes)
    this.#challenges.set(keyOf(from), { packet, unmasked: authenticated, untilMs: nowMs + answerMs })
  }

  /** The other side has no session: sends the request again with the proof of this node's identity. */
  #onChallenge(header: Extract<Header, { kind: 'whoAreYou' }>, { authenticated }: Packet, from: UdpAddress): void {
    const waiting = this.#waiting.get(latin1(header.nonce))
    if (waiting === undefined || waiting.untilMs < this.#deps.clock.elapsedMs()) return
    const { to, plain } = waiting
    if (to.ip !== from.ip || to.udpPort !== from.udpPort) return
    this.#waiting.delete(latin1(header.nonce))
    const ephemeral = createPrivateKey()
    const keys = deriveKeys(to.publicKey, ephemeral, authenticated, { initiator: this.place, recipient: to.place })
    if (keys === undefined) return
    const session = this.#begin(to, keys.initiator, keys.recipient)
    const { own, privateKey } = this.#deps
    const ephemeralKey = compressedKeyOf(ephemeral)
    const signature = signChallenge(privateKey, authenticated, ephemeralKey, to.place)
    const record = header.enrSequence < own.current.sequence ? { record: own.current.bytes } : {}
    const nonce = nextNonce(session)
    this.#send(to, { kind: 'handshake', nonce, source: this.place, signature, ephemeralKey, ...record }, (covered) =>
      encryptMessage(session.write, nonce, plain, covered),
    )
  }

  /** Begins a session. When both sides did so at once, each writes with the keys that it got last: the other side has them as the earlier ones. */
  #begin(contact: Contact, write: Uint8Array, read: Uint8Array): Session {
    const session = { write, read, earlierRead: this.#sessions.get(keyOf(contact))?.read, sent: 0 }
    this.#sessions.set(keyOf(contact), session)
    return session
  }

  #onHandshake(header: Extract<Header, { kind: 'handshake' }>, { message, authenticated }: Packet, from: Contact): void {
    const challenge = this.#challenges.get(keyOf(from))
    if (challenge === undefined || challenge.untilMs < this.#deps.clock.elapsedMs()) return
    const { source, signature, ephemeralKey, nonce } = header
    const record = header.record && readRecord(header.record)
    const publicKey = record ? uncompressedKey(record.enr.publicKey) : this.#deps.known(toHex(source))?.publicKey
    if (publicKey === undefined) throw new RlpError('handshake without a record')
    if (!equalBytes(keccak256(publicKey), source)) throw new RlpError('record of another node')
    if (!isProofOf(publicKey, signature, challenge.unmasked, ephemeralKey, this.place)) throw new RlpError('wrong proof of an identity')
    const sides = { initiator: source, recipient: this.place }
    const keys = deriveKeys(uncompressedKey(ephemeralKey), this.#deps.privateKey, challenge.unmasked, sides)
    const plain = keys && decryptMessage(keys.initiator, nonce, message, authenticated)
    if (keys === undefined || plain === undefined) throw new RlpError('message of a handshake with another key')
    this.#challenges.delete(keyOf(from))
    this.#begin(from, keys.recipient, keys.initiator)
    if (record) this.#deps.onRecord(record, from)
    this.#deps.onMessage(from, decodeMessage(plain))
  }
}

/** Reads a record. @throws RlpError when it is malformed or its signature is wrong */
export function readRecord(bytes: Uint8Array): SignedRecord {
  const enr = decodeRecord(bytes)
  if (enr === undefined) throw new RlpError('record that cannot be read')
  return { enr, bytes }
}
