import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { publicKeyOf, sharedPoint, uncompressedKey } from '#lib/secp256k1'
import { decryptMessage, deriveKeys, encryptMessage, isProofOf, signChallenge } from './keys.ts'
import { decodeMessage, encodeMessage, type Message } from './messages.ts'
import { decodePacket, encodePacket, type Packet } from './packets.ts'
import { readRecord } from './sessions.ts'

type Vectors = Readonly<Record<'keyA' | 'keyB' | 'ping' | 'whoAreYou' | 'handshake' | 'handshakeWithRecord', Hex>> & {
  readonly challenges: readonly [Hex, Hex]
  readonly readKeys: readonly [Hex, Hex]
  readonly point: Readonly<Record<'publicKey' | 'secretKey' | 'shared', Hex>>
  readonly derivation: Readonly<
    Record<'ephemeralKey' | 'publicKey' | 'initiator' | 'recipient' | 'challenge' | 'initiatorKey' | 'recipientKey', Hex>
  >
  readonly proof: Readonly<Record<'privateKey' | 'challenge' | 'ephemeralKey' | 'recipient' | 'signature', Hex>>
  readonly encryption: Readonly<Record<'key' | 'nonce' | 'plain' | 'authenticated' | 'encrypted', Hex>>
}
const vectors = JSON.parse(readFileSync(new URL('../../../../test/fixtures/discv5.json', import.meta.url), 'utf8')) as Vectors
const [keyA, keyB] = [fromHex(vectors.keyA), fromHex(vectors.keyB)]
const [nodeA, nodeB] = [keccak256(publicKeyOf(keyA)), keccak256(publicKeyOf(keyB))]

/** Reads a published packet, which is for node B. */
function published(name: 'ping' | 'whoAreYou' | 'handshake' | 'handshakeWithRecord'): Packet {
  return decodePacket('discv5', nodeB, fromHex(`0x${vectors[name]}`)) ?? expect.fail('another protocol')
}

it('executionPeers/discovery/v5: derives keys, proves an identity and encrypts as published', () => {
  const { point, derivation, proof, encryption } = vectors
  const bytes = <K extends string>(hex: Readonly<Record<K, Hex>>): Record<K, Uint8Array> =>
    Object.fromEntries(Object.entries<Hex>(hex).map(([name, value]) => [name, fromHex(value)])) as Record<K, Uint8Array>
  const shared = sharedPoint(uncompressedKey(fromHex(point.publicKey)), fromHex(point.secretKey))
  expect(toHex(shared ?? new Uint8Array())).toBe(point.shared)

  const { ephemeralKey, publicKey, challenge, initiator, recipient } = bytes(derivation)
  const keys = deriveKeys(uncompressedKey(publicKey), ephemeralKey, challenge, { initiator, recipient }) ?? expect.fail('no point')
  expect([toHex(keys.initiator), toHex(keys.recipient)]).toEqual([derivation.initiatorKey, derivation.recipientKey])

  const of = bytes(proof)
  expect(toHex(signChallenge(of.privateKey, of.challenge, of.ephemeralKey, of.recipient))).toBe(proof.signature)
  expect(isProofOf(publicKeyOf(of.privateKey), of.signature, of.challenge, of.ephemeralKey, of.recipient)).toBe(true)
  expect(isProofOf(publicKeyOf(keyA), of.signature, of.challenge, of.ephemeralKey, of.recipient)).toBe(false)
  expect(isProofOf(publicKeyOf(of.privateKey), new Uint8Array(64), of.challenge, of.ephemeralKey, of.recipient)).toBe(false)

  const { key, nonce, plain, authenticated, encrypted } = bytes(encryption)
  expect(toHex(encryptMessage(key, nonce, plain, authenticated))).toBe(encryption.encrypted)
  expect(toHex(decryptMessage(key, nonce, encrypted, authenticated) ?? new Uint8Array())).toBe(encryption.plain)
  expect(
    decryptMessage(
      key,
      nonce,
      encrypted.map((byte, i) => (i === 3 ? byte ^ 1 : byte)),
      authenticated,
    ),
  ).toBeUndefined()
  expect(decryptMessage(key, nonce, encrypted.subarray(0, 15), authenticated)).toBeUndefined()
})

it('executionPeers/discovery/v5: reads a published message, challenge and handshakes', () => {
  const ping = published('ping')
  expect(ping.header).toEqual({ kind: 'message', nonce: new Uint8Array(12).fill(0xff), source: nodeA })
  expect(decodeMessage(decryptMessage(new Uint8Array(16), ping.header.nonce, ping.message, ping.authenticated) ?? expect.fail())).toEqual({
    ...{ kind: 'ping', request: Uint8Array.of(0, 0, 0, 1), enrSequence: 2 },
  })
  expect(published('whoAreYou').header).toMatchObject({
    kind: 'whoAreYou',
    idNonce: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
    enrSequence: 0,
  })
  expect(toHex(published('whoAreYou').authenticated)).toBe(vectors.challenges[1])

  for (const [i, name] of (['handshake', 'handshakeWithRecord'] as const).entries()) {
    const { header, message, authenticated } = published(name)
    if (header.kind !== 'handshake') return expect.fail(header.kind)
    const challenge = fromHex(vectors.challenges[i] ?? '0x')
    const record = header.record && readRecord(header.record)
    expect(record?.enr.seq).toBe(name === 'handshake' ? undefined : 1n)
    expect(toHex(keccak256(record ? uncompressedKey(record.enr.publicKey) : publicKeyOf(keyA)))).toBe(toHex(nodeA))
    expect(isProofOf(publicKeyOf(keyA), header.signature, challenge, header.ephemeralKey, nodeB)).toBe(true)
    const sides = { initiator: nodeA, recipient: nodeB }
    const keys = deriveKeys(uncompressedKey(header.ephemeralKey), keyB, challenge, sides) ?? expect.fail('no point')
    expect(toHex(keys.initiator)).toBe(vectors.readKeys[i])
    const plain = decryptMessage(keys.initiator, header.nonce, message, authenticated) ?? expect.fail('another key')
    expect(decodeMessage(plain)).toEqual({ kind: 'ping', request: Uint8Array.of(0, 0, 0, 1), enrSequence: 1 })
  }
})

it('executionPeers/discovery/v5: reads what it wrote under another protocol id, and nothing under the first one', () => {
  const header = { kind: 'whoAreYou', nonce: new Uint8Array(12).fill(3), idNonce: new Uint8Array(16).fill(4), enrSequence: 5 } as const
  const { packet, authenticated } = encodePacket('basev0', nodeB, new Uint8Array(16).fill(6), header, () => new Uint8Array(0))
  expect(decodePacket('basev0', nodeB, packet)).toEqual({ header, authenticated, message: new Uint8Array(0) })
  expect(decodePacket('discv5', nodeB, packet)).toBeUndefined()
  expect(decodePacket('basev0', nodeA, packet)).toBeUndefined()
})

it('executionPeers/discovery/v5: refuses packets with a wrong version, kind or size', () => {
  const source = nodeA
  const encoded = (head: Partial<Record<number, number>>, more = 0): Uint8Array => {
    const iv = new Uint8Array(16)
    const header = { kind: 'message', nonce: new Uint8Array(12), source } as const
    const { packet } = encodePacket('discv5', nodeB, iv, header, () => new Uint8Array(16 + more))
    // the mask is a stream: a changed bit of the header is a changed bit of the packet
    for (const [at, bits] of Object.entries(head)) packet[16 + Number(at)] = (packet[16 + Number(at)] ?? 0) ^ (bits ?? 0)
    return packet
  }
  expect(() => decodePacket('discv5', nodeB, encoded({ 7: 2 }))).toThrow('version 3')
  expect(() => decodePacket('discv5', nodeB, encoded({ 8: 8 }))).toThrow('packet of kind 8')
  expect(() => decodePacket('discv5', nodeB, encoded({ 8: 1 }))).toThrow('header of kind 1 with 32 bytes')
  expect(() => decodePacket('discv5', nodeB, encoded({ 8: 2 }))).toThrow('header of kind 2 with 32 bytes')
  expect(() => decodePacket('discv5', nodeB, encoded({ 21: 4 }))).toThrow('header of 1095 bytes')
  expect(() => encoded({}, 1_300)).toThrow('packet of')
  for (const length of [0, 62, 1_281]) expect(decodePacket('discv5', nodeB, new Uint8Array(length))).toBeUndefined()
})

const request = u64Bytes(7)
const { record } = (() => {
  const { header } = published('handshakeWithRecord')
  return header.kind === 'handshake' && header.record ? { record: header.record } : expect.fail('no record')
})()
const messages: readonly Message[] = [
  { kind: 'ping', request, enrSequence: 0 },
  { kind: 'pong', request, enrSequence: 300, ip: '192.0.2.1', udpPort: 9_200 },
  { kind: 'pong', request, enrSequence: 300, ip: '2001:db8:0:0:0:0:0:1', udpPort: 9_200 },
  { kind: 'findNode', request, distances: [0, 255, 256] },
  { kind: 'nodes', request, total: 2, records: [record, record] },
  { kind: 'nodes', request, total: 1, records: [] },
  { kind: 'talkRequest', request },
  { kind: 'talkResponse', request, response: Uint8Array.of(1) },
]
it.each(messages)('executionPeers/discovery/v5: reads the $kind that it wrote', (message) => {
  expect(decodeMessage(encodeMessage(message))).toEqual(message)
})

it.each([
  ['a request id of nine bytes', '0x01cb8900000000000000000007', 'request id of 9 bytes'],
  ['a distance above 256', '0x03c601c482012001', 'distance above 256'],
  ['an unknown type', '0x07c101', 'message of type 7'],
  ['bytes after the message', '0x01c2070100', ''],
  ['no message', '0x', ''],
  ['a record that is no list', '0x04c40701c101', ''],
])('executionPeers/discovery/v5: refuses a message with %s', (_, hex, reason) => {
  expect(() => {
    const message = decodeMessage(fromHex(hex))
    if (message.kind === 'nodes') message.records.map(readRecord)
  }).toThrow(reason)
})
