import { expect, it } from 'vitest'
import { addressGroup, hasInboundPlace, hasOutboundPlace } from './inboundLimits.ts'

const from = (ip: string, direction: 'inbound' | 'outbound' = 'inbound') => ({ direction, ip })
const many = (count: number, of: (i: number) => ReturnType<typeof from>) => Array.from({ length: count }, (_, i) => of(i))

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0db8:0:1:2:3:4:5', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
])('lib/inboundLimits: %s belongs to %s', (ip, group) => {
  expect(addressGroup(ip)).toBe(group)
})

it.each([
  ['nine of one address', many(9, () => from('192.0.2.1')), 30, '192.0.2.1', true],
  ['ten of one address', many(10, () => from('192.0.2.1')), 30, '192.0.2.1', false],
  ['ten of another address', many(10, () => from('192.0.2.1')), 30, '192.0.2.2', true],
  ['ten of one /64', many(10, (i) => from(`2001:db8::${i + 1}`)), 30, '2001:db8::ff', false],
  ['half of few places', many(3, () => from('192.0.2.1')), 6, '192.0.2.1', false],
  ['one place', [], 1, '192.0.2.1', true],
  ['two thirds of different addresses', many(20, (i) => from(`192.0.2.${i}`)), 30, '198.51.100.1', false],
  ['many that this node dialled', many(20, (i) => from(`192.0.2.${i}`, 'outbound')), 30, '198.51.100.1', true],
  ['nodes of this machine', many(15, () => from('127.0.0.1')), 30, '127.0.0.1', true],
])('lib/inboundLimits: a place beside %s', (_, open, maxPeers, ip, expected) => {
  expect(hasInboundPlace(open, maxPeers, ip)).toBe(expected)
})

it.each([
  ['five of one address, of twelve places', many(5, () => from('192.0.2.1', 'outbound')), 12, '192.0.2.1', true],
  ['six of one address, of twelve places', many(6, () => from('192.0.2.1', 'outbound')), 12, '192.0.2.1', false],
  ['ten that one address dialled', many(10, () => from('192.0.2.1')), 30, '192.0.2.1', true],
  ['nodes of this machine', many(11, () => from('127.0.0.1', 'outbound')), 12, '127.0.0.1', true],
  ['all places', many(12, (i) => from(`192.0.2.${i}`)), 12, '198.51.100.1', false],
])('lib/inboundLimits: a node to dial beside %s', (_, open, maxPeers, ip, expected) => {
  expect(hasOutboundPlace(open, maxPeers, ip)).toBe(expected)
})
