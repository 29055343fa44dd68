import { readFileSync } from 'node:fs'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { publicKeyOf } from '#lib/secp256k1'
import { decodeDisconnect, decodeHello, encodeDisconnect, encodeHello } from './baseMessages.ts'
import { decryptEcies, encryptEcies } from './ecies.ts'
import { FrameReader, FrameWriter } from './frames.ts'
import { createRandom, deriveSecrets, openAck, openAuth, packetLength, sealAck, sealAuth } from './handshake.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../test/fixtures/eip8.json', import.meta.url), 'utf8')) as Record<string, string>
const bytesOf = (name: string): Uint8Array => fromHex(`0x${vectors[name]}`)
const [keyA, keyB] = [bytesOf('staticKeyA'), bytesOf('staticKeyB')]

it.each(['auth2', 'auth3'])('executionPeers/rlpx/handshake: reads the packet %s of EIP-8', (name) => {
  const packet = bytesOf(name)
  expect(packetLength(packet)).toBe(packet.length)
  const { publicKey, nonce, ephemeralPublicKey } = openAuth(keyB, packet)
  expect(toHex(publicKey)).toBe(toHex(publicKeyOf(keyA)))
  expect(toHex(nonce)).toBe(`0x${vectors['nonceA']}`)
  expect(toHex(ephemeralPublicKey)).toBe(toHex(publicKeyOf(bytesOf('ephemeralKeyA'))))
})

it.each(['ack2', 'ack3'])('executionPeers/rlpx/handshake: reads the packet %s of EIP-8', (name) => {
  const packet = bytesOf(name)
  expect(packetLength(packet)).toBe(packet.length)
  const { nonce, ephemeralPublicKey } = openAck(keyA, packet)
  expect(toHex(nonce)).toBe(toHex(bytesOf('nonceB')))
  expect(toHex(ephemeralPublicKey)).toBe(toHex(publicKeyOf(bytesOf('ephemeralKeyB'))))
})

it('executionPeers/rlpx/handshake: derives the secrets of EIP-8', () => {
  const own = { ephemeralKey: bytesOf('ephemeralKeyB'), nonce: bytesOf('nonceB') }
  const packets = { auth: bytesOf('auth2'), ack: bytesOf('ack2') }
  const { aes, mac, ingress } = deriveSecrets('recipient', own, openAuth(keyB, packets.auth), packets)
  expect(toHex(aes)).toBe(`0x${vectors['aesSecret']}`)
  expect(toHex(mac)).toBe(`0x${vectors['macSecret']}`)
  expect(toHex(keccak_256.create().update(ingress).update(Buffer.from('foo')).digest())).toBe(`0x${vectors['ingressMacOfFoo']}`)
})

it('executionPeers/rlpx/baseMessages: reads the Hello of EIP-8 with later fields', () => {
  const hello = decodeHello(bytesOf('hello'))
  expect(hello).toMatchObject({ version: 55, client: 'kneth/v0.91/plan9', port: 9_999 })
  expect(hello.capabilities).toEqual([
    { name: 'eth', version: 61 },
    { name: 'mork', version: 22 },
  ])
  expect(decodeHello(encodeHello(hello))).toEqual(hello)
})

it.each([
  [encodeDisconnect('too_many_peers'), 'too_many_peers'],
  [encodeDisconnect('requested'), 'requested'],
  [Uint8Array.of(0x04), 'too_many_peers'],
  [Uint8Array.of(0xc1, 0x10), 'subprotocol_error'],
  [Uint8Array.of(0xc0), 'requested'],
  [new Uint8Array(0), 'requested'],
  [Uint8Array.of(0xc1, 0x7f), 'requested'],
])('executionPeers/rlpx/baseMessages: reads the reason %j as %s', (bytes, reason) => {
  expect(decodeDisconnect(bytes)).toBe(reason)
})

it('executionPeers/rlpx/ecies: rejects a message with another byte anywhere', () => {
  const message = encryptEcies(publicKeyOf(keyB), Uint8Array.of(1, 2, 3), Uint8Array.of(9))
  expect(decryptEcies(keyB, message, Uint8Array.of(9))).toEqual(Buffer.from([1, 2, 3]))
  expect(decryptEcies(keyB, message, Uint8Array.of(8))).toBeUndefined()
  expect(decryptEcies(keyA, message, Uint8Array.of(9))).toBeUndefined()
  for (const at of [0, 1, 64, 65, 80, 81, 83, 84, message.length - 1]) {
    const changed = message.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(decryptEcies(keyB, changed, Uint8Array.of(9))).toBeUndefined()
  }
  expect(decryptEcies(keyB, message.subarray(0, 100), Uint8Array.of(9))).toBeUndefined()
})

it.each([
  ['no length', []],
  ['too short a packet', [0, 10]],
  ['too long a packet', [0x40, 0]],
])('executionPeers/rlpx/handshake: bounds a packet: %s', (_, bytes) => {
  if (bytes.length < 2) expect(packetLength(Uint8Array.from(bytes))).toBeUndefined()
  else expect(() => packetLength(Uint8Array.from(bytes))).toThrow('handshake packet')
})

/** Returns the frames of both sides after a handshake. */
function session(maxBytes = 2 ** 24) {
  const [a, b] = [createRandom(), createRandom()]
  const auth = sealAuth(keyA, publicKeyOf(keyB), a)
  const peer = openAuth(keyB, auth)
  const ack = sealAck(peer.publicKey, b)
  const initiator = deriveSecrets('initiator', a, openAck(keyA, ack), { auth, ack })
  const recipient = deriveSecrets('recipient', b, peer, { auth, ack })
  return { writer: new FrameWriter(initiator), reader: new FrameReader(recipient, () => maxBytes) }
}

it('executionPeers/rlpx/frames: reads frames in pieces of any length', () => {
  const { writer, reader } = session()
  const bodies = [1, 15, 16, 17, 5_000].map((length) => new Uint8Array(length).fill(length))
  const stream = Buffer.concat(bodies.map((body) => writer.write(body)))
  const read: Uint8Array[] = []
  for (let at = 0; at < stream.length; at += 7) {
    reader.push(stream.subarray(at, at + 7))
    for (let body = reader.next(); body; body = reader.next()) read.push(body)
  }
  expect(read.map(toHex)).toEqual(bodies.map(toHex))
  expect(reader.isInFrame).toBe(false)
})

it.each([
  ['a changed header', 0],
  ['a changed checksum of the header', 16],
  ['a changed body', 32],
  ['a changed checksum of the body', 64],
])('executionPeers/rlpx/frames: rejects %s', (_, at) => {
  const { writer, reader } = session()
  const bytes = writer.write(new Uint8Array(20))
  bytes[at] = (bytes[at] ?? 0) ^ 1
  reader.push(bytes)
  expect(() => reader.next()).toThrow('wrong checksum')
})

it('executionPeers/rlpx/frames: rejects a frame above its bound by its header alone', () => {
  const { writer, reader } = session(1_000)
  reader.push(writer.write(new Uint8Array(1_001)).subarray(0, 32))
  expect(() => reader.next()).toThrow('a frame of 1001 bytes')
})
