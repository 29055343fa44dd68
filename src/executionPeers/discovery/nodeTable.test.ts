import { expect, it } from 'vitest'
import { NodeTable } from './nodeTable.ts'

it.each([
  ['one IPv4 address', () => '192.0.2.1', 10],
  ['one IPv6 network of 64 bits', (i: number) => `2001:db8:0:0:0:0:0:${i.toString(16)}`, 10],
  ['different networks', (i: number) => `2001:db8:0:${i.toString(16)}:0:0:0:1`, 30],
  ['this machine', () => '127.0.0.1', 30],
] as const)('executionPeers/discovery/nodeTable: bounds the nodes of %s', (_, ipOf, expected) => {
  const table = new NodeTable()
  for (let i = 0; i < 30; i++) table.add(String(i), { ip: ipOf(i), udpPort: i + 1, tcpPort: 1, publicKey: new Uint8Array(64).fill(i) })
  expect(table.all().length).toBe(expected)
})
