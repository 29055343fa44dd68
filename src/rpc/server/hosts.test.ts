import { expect, it } from 'vitest'
import { isHostAllowed, isLoopback } from './hosts.ts'

it.each([
  ['127.0.0.1', true],
  ['127.8.9.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.4', false],
  ['node.example', false],
])('rpc/server/hosts: %s is reachable from this machine only: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})

it.each([
  ['127.0.0.1:8545', true],
  ['[::1]:8545', true],
  ['10.1.2.3', true],
  ['localhost:8545', true],
  ['LOCALHOST', true],
  ['api.localhost:1', true],
  ['known.example:80', true],
  ['evil.example:8545', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  [undefined, true],
])('rpc/server/hosts: accepts a request for host %s: %s', (header, expected) => {
  expect(isHostAllowed(header, ['known.example'])).toBe(expected)
})

it('rpc/server/hosts: accepts any name when the operator allows it', () => {
  expect(isHostAllowed('evil.example', 'any')).toBe(true)
})
