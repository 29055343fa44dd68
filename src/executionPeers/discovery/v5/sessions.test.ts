import { expect, it } from 'vitest'
import { emptyBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { publicKeyOf } from '#lib/secp256k1'
import { createPrivateKey } from '../../rlpx/ecies.ts'
import { OwnRecord } from '../ownRecord.ts'
import type { DiscoverySocket, UdpAddress } from '../socket.ts'
import type { Message } from './messages.ts'
import { decodePacket } from './packets.ts'
import { Sessions, type SessionsDeps, type Target } from './sessions.ts'

const request = Uint8Array.of(1)
const ping: Message = { kind: 'ping', request, enrSequence: 1 }

type Side = {
  sessions: Sessions
  readonly address: UdpAddress
  readonly publicKey: Uint8Array
  readonly got: Message[]
  readonly sent: Uint8Array[]
}

/** Packets wait in `sent` until the test delivers them. */
function sideOf(udpPort: number, privateKey = createPrivateKey(), clock: SessionsDeps['clock'] = systemClock): Side {
  const [got, sent]: [Message[], Uint8Array[]] = [[], []]
  const own = new OwnRecord({ privateKey, tcpPort: 1, udpPort, forkId: () => ({ hash: '0x00000001', next: 0 }) }, systemClock.nowMs())
  const socket = { send: (packet: Uint8Array) => void sent.push(packet) } as unknown as DiscoverySocket
  const sessions: Sessions = new Sessions({
    ...{ clock, socket, own, privateKey, protocol: 'basev0' },
    known: () => undefined,
    onRecord: () => {},
    onMessage: (_, message) => void got.push(message),
  })
  return { sessions, address: { ip: '127.0.0.1', udpPort }, publicKey: publicKeyOf(privateKey), got, sent }
}

const targetOf = ({ sessions, address, publicKey }: Side): Target => ({ ...address, place: sessions.place, publicKey })

/** Delivers packets in both directions until none is left. @returns their number */
function deliver(a: Side, b: Side): number {
  for (let count = 0; ; count++) {
    const [from, to] = a.sent.length > 0 ? [a, b] : [b, a]
    const packet = from.sent.shift()
    if (packet === undefined) return count
    expect(to.sessions.read(packet, from.address)).toBe(true)
  }
}

it('executionPeers/discovery/v5: a handshake carries the first request; later messages need none, in both directions', () => {
  const [a, b] = [sideOf(1), sideOf(2)]
  a.sessions.request(targetOf(b), ping)
  expect(deliver(a, b)).toBe(3)
  expect(b.got).toEqual([ping])
  a.sessions.request(targetOf(b), ping)
  b.sessions.request(targetOf(a), ping)
  b.sessions.respond(targetOf(a), ping)
  expect(deliver(a, b)).toBe(3)
  expect([a.got.length, b.got.length]).toEqual([2, 2])
})

it('executionPeers/discovery/v5: two handshakes at once leave a session in each direction', () => {
  const [a, b] = [sideOf(1), sideOf(2)]
  a.sessions.request(targetOf(b), ping)
  b.sessions.request(targetOf(a), ping)
  const turn = (): void => {
    const [ofA, ofB] = [a.sent.splice(0), b.sent.splice(0)]
    for (const packet of ofA) b.sessions.read(packet, a.address)
    for (const packet of ofB) a.sessions.read(packet, b.address)
  }
  for (let i = 0; i < 3; i++) turn()
  expect([a.got, b.got]).toEqual([[ping], [ping]])
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.sessions.respond(targetOf(to), ping)
    from.sessions.request(targetOf(to), ping)
  }
  expect(deliver(a, b)).toBe(4)
  expect([a.got.length, b.got.length]).toEqual([3, 3])
})

it('executionPeers/discovery/v5: a node that lost its sessions is reached by another handshake', () => {
  const key = createPrivateKey()
  const [a, b] = [sideOf(1), sideOf(2, key)]
  a.sessions.request(targetOf(b), ping)
  deliver(a, b)
  const again = sideOf(2, key)
  a.sessions.request(targetOf(again), ping)
  expect(deliver(a, again)).toBe(3)
  expect(again.got).toEqual([ping])
})

it('executionPeers/discovery/v5: ignores challenges that it did not cause, of another address, and late ones', () => {
  let nowMs = 0
  const [a, b, stranger] = [sideOf(1, createPrivateKey(), { ...systemClock, elapsedMs: () => nowMs }), sideOf(2), sideOf(3)]
  stranger.sessions.request(targetOf(b), ping)
  b.sessions.read(stranger.sent.shift() ?? emptyBytes, stranger.address)
  // it is masked for the stranger
  expect(a.sessions.read(b.sent.shift() ?? emptyBytes, b.address)).toBe(false)

  a.sessions.request(targetOf(b), ping)
  b.sessions.read(a.sent.shift() ?? emptyBytes, a.address)
  const challenge = b.sent.shift() ?? expect.fail('no challenge')
  a.sessions.read(challenge, stranger.address)
  expect(a.sent).toEqual([])
  nowMs = 2_001
  a.sessions.read(challenge, b.address)
  expect(a.sent).toEqual([])
})

it('executionPeers/discovery/v5: a handshake that is replayed, of another address, or changed brings no session', () => {
  const [a, b, stranger] = [sideOf(1), sideOf(2), sideOf(3)]
  a.sessions.request(targetOf(b), ping)
  b.sessions.read(a.sent.shift() ?? emptyBytes, a.address)
  a.sessions.read(b.sent.shift() ?? emptyBytes, b.address)
  const handshake = a.sent.shift() ?? expect.fail('no handshake')
  expect(decodePacket('basev0', b.sessions.place, handshake)?.header.kind).toBe('handshake')

  const changedAt = (at: number): Uint8Array => handshake.map((byte, i) => (i === at ? byte ^ 1 : byte))
  b.sessions.read(handshake, stranger.address)
  b.sessions.read(changedAt(16 + 23), a.address) // another id has no challenge
  for (const [at, reason] of [
    [16 + 23 + 34 + 5, 'wrong proof of an identity'],
    [16 + 23 + 34 + 64 + 33 + 40, 'record that cannot be read'],
    [handshake.length - 1, 'message of a handshake with another key'],
  ] as const)
    expect(() => b.sessions.read(changedAt(at), a.address)).toThrow(reason)
  expect(b.got).toEqual([])
  b.sessions.read(handshake, a.address)
  expect(b.got).toEqual([ping])
  b.sessions.read(handshake, a.address)
  expect(b.got).toEqual([ping])
})

it('executionPeers/discovery/v5: repeats a challenge that waits for its answer, so that nobody can void it', () => {
  const [a, b] = [sideOf(1), sideOf(2)]
  a.sessions.request(targetOf(b), ping)
  a.sessions.request(targetOf(b), ping)
  for (const packet of a.sent.splice(0)) b.sessions.read(packet, a.address)
  const [first, second] = b.sent.splice(0)
  expect(second).toEqual(first)
  a.sessions.read(first ?? emptyBytes, b.address)
  expect(deliver(a, b)).toBe(1)
  expect(b.got).toEqual([ping])
})
