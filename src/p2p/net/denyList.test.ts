import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { DenyList } from './denyList.ts'

const peer = '16Uiu2HAmGmcgGv2xrqmt2Uzhs6o8oThZXcwLuWc82MQDw7jEtHtr'

it('p2p/net/denyList: a ban ends after its duration; an operator ends it earlier, and denies without an end', async () => {
  const clock = createManualClock()
  const list = new DenyList(clock)
  list.ban(peer, 60_000)
  expect([list.deniesPeer(peer), list.deniedPeers()]).toEqual([true, [peer]])
  await clock.advanceMs(60_000)
  expect([list.deniesPeer(peer), list.deniedPeers()]).toEqual([false, []])
  list.ban(peer, 60_000)
  list.set('peer', peer, false)
  expect(list.deniesPeer(peer)).toBe(false)
  list.set('peer', peer, true)
  await clock.advanceMs(10_000_000)
  expect(list.deniesPeer(peer)).toBe(true)
})

it('p2p/net/denyList: denies addresses and subnets of both families in both directions', () => {
  const list = new DenyList(createManualClock())
  list.set('address', '192.0.2.1', true)
  list.set('subnet', '198.51.100.0/24', true)
  list.set('subnet', '2001:db8::/32', true)
  const gater = list.gater()
  const denied = (ip: string): unknown[] => {
    const address = multiaddr(`/${ip.includes(':') ? 'ip6' : 'ip4'}/${ip}/tcp/1`)
    return [gater.denyDialMultiaddr?.(address), gater.denyInboundConnection?.({ remoteAddr: address } as never)]
  }
  for (const ip of ['192.0.2.1', '198.51.100.9', '2001:db8::1']) expect(denied(ip)).toEqual([true, true])
  for (const ip of ['192.0.2.2', '198.51.101.9', '2001:db9::1']) expect(denied(ip)).toEqual([false, false])
  list.set('subnet', '198.51.100.0/24', false)
  expect(denied('198.51.100.9')).toEqual([false, false])
})

it('p2p/net/denyList: an entry has one form, whatever the text of the operator', () => {
  const list = new DenyList(createManualClock())
  const cid = peerIdFromString(peer).toCID().toString()
  list.set('peer', cid, true)
  for (const ip of ['2001:DB8:0:0::1', '::ffff:192.0.2.1']) list.set('address', ip, true)
  list.set('subnet', '2001:DB9:0::/32', true)
  expect([list.deniesPeer(peer), list.entries('peer'), list.entries('address'), list.entries('subnet')]).toEqual([
    ...[true, [peer]],
    ...[['2001:db8::1', '192.0.2.1'], ['2001:db9::/32']],
  ])
  for (const ip of ['2001:db8::1', '2001:db8:0:0:0:0:0:1', '192.0.2.1', '::ffff:c000:201'])
    expect([ip, list.deniesAddress(ip)]).toEqual([ip, true])
  list.set('peer', cid, false)
  list.set('address', '2001:db8:0::0:1', false)
  expect([list.deniesPeer(peer), list.deniesAddress('2001:db8::1')]).toEqual([false, false])
})

it.each([
  ['address', 'host'],
  ['subnet', '192.0.2.1'],
  ['subnet', '192.0.2.0/33'],
  ['subnet', '::/129'],
  ['subnet', 'x/8'],
] as const)('p2p/net/denyList: refuses the %s %s', (kind, what) => {
  expect(() => new DenyList(createManualClock()).set(kind, what, true)).toThrow(RangeError)
})
