import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createRecord, Discovery, isPrivateNetwork } from './discovery.ts'

const chainId = 8_453
const recordAt = (host: string): string => {
  const identity = new Uint8Array(randomBytes(32))
  return createRecord({ chainId, identity, advertised: { host, tcpPort: 9_222, udpPort: 9_222 } }).encodeTxt()
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

it.each([
  ['127.0.0.1', ['192.0.2.1', '10.0.0.1', '127.0.0.2', 'fd00::1']],
  ['192.0.2.9', ['192.0.2.1']],
])('p2p/net/discovery: a node at %s takes records with these addresses: %j', async (own, expected) => {
  const hosts: string[] = []
  const port = await freePort()
  const node = new Discovery(
    { clock: systemClock, log: silentLog, onPeer: ({ address }) => hosts.push(address.toString().split('/')[2] ?? '') },
    {
      ...{ chainId, identity: new Uint8Array(randomBytes(32)), host: '127.0.0.1', port, bootnodes: [] },
      advertised: { host: own, tcpPort: port, udpPort: port },
    },
  )
  await node.start()
  const never = ['0.0.0.0', '169.254.169.254', '224.0.0.1', 'fe80::1', 'ff02::1']
  for (const host of [...never, '192.0.2.1', '10.0.0.1', '127.0.0.2', 'fd00::1']) node.add(recordAt(host))
  expect(hosts).toEqual(expected)
  await node.stop()
})

const key =
  '4f355bdcb7cc0af728ef3cceb9615d90684bb5b2ca5f859ab0f0b704075871aa385b6b1b8ead809ca67454d9683fcf2ba03456d6fe2c4abe2b07f0fbdbb2f1c1'

it.each([
  ['without bootnodes and with no address yet', [], undefined, true],
  ['without bootnodes, at a private address', [], '10.0.0.9', true],
  ['without bootnodes, at a public address', [], '192.0.2.9', false],
  ['with a public bootnode', [recordAt('192.0.2.1'), 'enr:-x'], '10.0.0.9', false],
  ['with a private bootnode', [recordAt('192.0.2.1'), recordAt('10.0.0.1')], '192.0.2.9', true],
  ['with a private bootnode as an enode URL', [`enode://${key}@10.0.0.1:9222`], '192.0.2.9', true],
])('p2p/net/discovery: judges whether the network is private, %s', (_, bootnodes, host, expected) => {
  expect(isPrivateNetwork({ bootnodes, advertised: { host, tcpPort: 9_222, udpPort: 9_222 } })).toBe(expected)
})
