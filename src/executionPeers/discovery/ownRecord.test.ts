import { expect, it } from 'vitest'
import { OwnRecord } from './ownRecord.ts'

const forkId = () => ({ hash: '0x169d85a3', next: 0 }) as const
const newRecord = () => new OwnRecord({ privateKey: new Uint8Array(32).fill(7), tcpPort: 30_303, udpPort: 30_303, forkId }, 0)
const voters = (network: string, count: number) => Array.from({ length: count }, (_, i) => `${network}.${i + 1}`)
const [own, wrong] = ['192.0.2.9', '203.0.113.9']

it('executionPeers/discovery/ownRecord: one machine has one vote for the address of this node, with many ports and IPv6 addresses', () => {
  const record = newRecord()
  for (let i = 1; i <= 20; i++) {
    record.vote({ ip: '198.51.100.1', udpPort: i }, wrong)
    record.vote({ ip: `2001:db8::${i}`, udpPort: i }, wrong)
  }
  expect(record.host).toBeUndefined()
  for (const ip of voters('198.51.100', 4)) record.vote({ ip, udpPort: 1 }, own)
  expect(record.host).toBe(own)
})

it('executionPeers/discovery/ownRecord: the address changes when most nodes report another one', () => {
  const record = newRecord()
  const [many, few] = [voters('198.51.100', 10), voters('192.0.2', 6)]
  for (const ip of many) record.vote({ ip, udpPort: 1 }, own)
  for (const ip of few) record.vote({ ip, udpPort: 1 }, wrong)
  expect(record.host).toBe(own)
  for (const ip of many) record.vote({ ip, udpPort: 1 }, '192.0.2.10')
  expect(record.host).toBe('192.0.2.10')
})

it('executionPeers/discovery/ownRecord: new votes replace those of the nodes that have not voted for the longest time', () => {
  const record = newRecord()
  const voteFrom = (network: string, count: number, ip: string): void => {
    for (const voter of voters(network, count)) record.vote({ ip: voter, udpPort: 1 }, ip)
  }
  voteFrom('198.51.100', 32, own)
  voteFrom('198.51.101', 32, wrong)
  voteFrom('198.51.100', 32, own)
  voteFrom('192.0.2', 8, '192.0.2.10')
  expect(record.host).toBe(own)
})
