import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { publicKeyOf } from '#lib/secp256k1'
import { decodePacket, encodePacket, type Message } from './packets.ts'

const { discovery: vectors, staticKeyB } = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/eip8.json', import.meta.url), 'utf8'),
) as { readonly discovery: Record<string, string>; readonly staticKeyB: string }
const key = fromHex(`0x${staticKeyB}`)

const expires = 1_136_239_445
it.each([
  ['ping4', { kind: 'ping', from: { ip: '127.0.0.1', udpPort: 3_322, tcpPort: 5_544 }, expires, enrSequence: 1 }],
  ['ping555', { kind: 'ping', from: { ip: '2001:db8:3c4d:15:0:0:abcd:ef12', udpPort: 3_322, tcpPort: 5_544 }, expires: 1_136_239_445 }],
  ['pong', { kind: 'pong', to: { ip: '2001:db8:85a3:8d3:1319:8a2e:370:7348', udpPort: 2_222, tcpPort: 33_338 }, expires }],
  ['findnode', { kind: 'findNode', expires }],
  ['neighbours', { kind: 'neighbours', expires }],
])('executionPeers/discovery/v4: reads the packet %s of EIP-8', (name, expected) => {
  const packet = fromHex(`0x${vectors[name]}`)
  const { message, publicKey } = decodePacket(packet)
  expect(message).toMatchObject(expected)
  expect(toHex(publicKey)).toBe(toHex(publicKeyOf(key)))
  if (message.kind === 'neighbours')
    expect(message.nodes.map(({ ip, udpPort, tcpPort }) => [ip, udpPort, tcpPort])).toEqual([
      ['99.33.22.55', 4_444, 4_445],
      ['1.2.3.4', 1, 1],
      ['2001:db8:3c4d:15:0:0:abcd:ef12', 3_333, 3_333],
      ['2001:db8:85a3:8d3:1319:8a2e:370:7348', 999, 1_000],
    ])
  // another byte anywhere
  for (const at of [0, 40, 96, 97, 120]) {
    const changed = packet.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => decodePacket(changed)).toThrow()
  }
})

it('executionPeers/discovery/v4: reads what it wrote, and refuses long, short and unknown packets', () => {
  const messages: readonly Message[] = [
    { kind: 'enrRequest', expires },
    { kind: 'neighbours', nodes: [{ ip: '192.0.2.1', udpPort: 1, tcpPort: 2, publicKey: publicKeyOf(key) }], expires },
  ]
  for (const message of messages) expect(decodePacket(encodePacket(key, message).packet).message).toEqual(message)
  expect(() => decodePacket(new Uint8Array(1_281))).toThrow('packet of 1281 bytes')
  expect(() => decodePacket(new Uint8Array(97))).toThrow('packet of 97 bytes')
})
