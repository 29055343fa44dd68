import { expect, it } from 'vitest'
import { addressRange } from './addressRange.ts'

it.each([
  ['192.0.2.1', 'public'],
  ['2001:db8::1', 'public'],
  ['172.32.0.1', 'public'],
  ['node.example', 'public'],
  ['127.0.0.2', 'private'],
  ['10.1.2.3', 'private'],
  ['172.31.0.1', 'private'],
  ['192.168.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['::1', 'private'],
  ['fd00::1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['0.0.0.0', 'unusable'],
  ['169.254.169.254', 'unusable'],
  ['224.0.0.1', 'unusable'],
  ['255.255.255.255', 'unusable'],
  ['::', 'unusable'],
  ['fe80::1', 'unusable'],
  ['ff02::1', 'unusable'],
  ['::ffff:169.254.169.254', 'unusable'],
] as const)('lib/addressRange: %s is %s', (host, range) => {
  expect(addressRange(host)).toBe(range)
})
