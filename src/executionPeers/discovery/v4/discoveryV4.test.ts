import { expect, it } from 'vitest'
import { publicKeyOf } from '#lib/secp256k1'
import { createManualClock } from '#test/harness/clock'
import { idOfKey } from '../../net/nodeId.ts'
import { createPrivateKey } from '../../rlpx/ecies.ts'
import { OwnRecord } from '../ownRecord.ts'
import type { DiscoverySocket, UdpAddress } from '../socket.ts'
import { DiscoveryV4 } from './discoveryV4.ts'
import { decodePacket, encodePacket, type Message, type Received } from './packets.ts'

/** Discovery, with the packets that it sends. @param bootHost of a bootnode that has the key of the other node */
function opened(bootHost?: string) {
  const clock = createManualClock()
  const privateKey = createPrivateKey()
  const sent: (Received & { readonly to: string })[] = []
  const socket: Pick<DiscoverySocket, 'port' | 'send'> = {
    port: 30_303,
    send: (packet, { ip }) => void sent.push({ ...decodePacket(packet), to: ip }),
  }
  const own = new OwnRecord({ privateKey, tcpPort: 30_303, udpPort: 30_303, forkId: () => ({ hash: '0x169d85a3', next: 0 }) }, 0)
  const key = createPrivateKey()
  const bootnodes = bootHost ? [{ id: idOfKey(publicKeyOf(key)), host: bootHost, tcpPort: 30_303, udpPort: 30_303 }] : []
  const deps = { clock, own, privateKey, socket: socket as DiscoverySocket, bootnodes, isOfChain: () => true, onNode: () => {} }
  const discovery = new DiscoveryV4(deps)
  const expires = clock.nowMs() / 1_000 + 20
  const read = (message: Message, from: UdpAddress): void => discovery.read(encodePacket(key, message).packet, from)
  /** Sends a ping from an address, answers its ping from another address, and requests neighbours there. */
  const join = (from: UdpAddress, answersFrom: UdpAddress): void => {
    read({ kind: 'ping', from: { ...from, tcpPort: 1 }, to: { ...from, tcpPort: 1 }, expires }, from)
    const { hash } = sent.find(({ message }) => message.kind === 'ping') ?? expect.fail('no ping')
    read({ kind: 'pong', to: { ...from, tcpPort: 1 }, pingHash: hash, expires }, answersFrom)
    read({ kind: 'findNode', target: new Uint8Array(64), expires }, answersFrom)
  }
  return { discovery, sent, join }
}

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0:0:0:0:1'],
])('executionPeers/discovery/v4: a node at %s that answers a ping from %s is sent neighbours', (ip, again) => {
  const { discovery, sent, join } = opened()
  join({ ip, udpPort: 30_303 }, { ip: again, udpPort: 30_304 })
  expect(discovery.size).toBe(1)
  expect(sent.map(({ message, to }) => [message.kind, to])).toEqual([
    ['pong', ip],
    ['ping', ip],
    ['neighbours', again],
  ])
})

it('executionPeers/discovery/v4: sends nothing to an address that answers a ping which was sent to another one', () => {
  const { discovery, sent, join } = opened()
  join({ ip: '192.0.2.1', udpPort: 30_303 }, { ip: '203.0.113.1', udpPort: 30_303 })
  expect(discovery.size).toBe(0)
  expect(sent.map(({ to }) => to)).toEqual(['192.0.2.1', '192.0.2.1'])
})

it('executionPeers/discovery/v4: a bootnode that is named by its host may answer from any address', () => {
  const { discovery, sent, join } = opened('boot.example')
  join({ ip: '192.0.2.1', udpPort: 30_303 }, { ip: '192.0.2.1', udpPort: 30_303 })
  expect(discovery.size).toBe(1)
  expect(sent.map(({ message, to }) => [message.kind, to])).toEqual([
    ['ping', 'boot.example'],
    ['pong', '192.0.2.1'],
    ['neighbours', '192.0.2.1'],
  ])
})
