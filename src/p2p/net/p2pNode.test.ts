import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { ENR } from '@chainsafe/enr'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { blockOf, chainOf, configNow, signBlock } from '#test/harness/p2p/chain'
import { startTestNode } from '#test/harness/p2p/nodes'

const config = configNow(100, systemClock.nowMs())
const sumOf = (events: readonly { readonly messages: object }[], reason: string): number =>
  events.reduce((sum, { messages }) => sum + ((messages as Record<string, number>)[reason] ?? 0), 0)

it('p2p/net: a signed block reaches a node two hops away, once', async () => {
  await using first = await startTestNode(config)
  await using second = await startTestNode(config, { staticPeers: [first.address] })
  await using third = await startTestNode(config, { staticPeers: [second.address] })
  await second.until(() => second.node.gossip.meshPeers() === 2)
  const block = blockOf(config, 100)
  await first.node.publish(signBlock(config, block))
  await third.until(() => third.blocks.length > 0)
  expect(third.blocks).toEqual([block])
  expect(second.blocks).toEqual([block])
})

it('p2p/net: fetches blocks by number, and learns which peers have none', async () => {
  const blocks = chainOf(config, 90, 5)
  await using server = await startTestNode(config, {}, (number) => blocks.find(({ blockNumber }) => blockNumber === number))
  await using client = await startTestNode(config, { staticPeers: [server.address] })
  await client.until(() => client.node.identities.serves(server.node.listening.peerId))
  expect(await client.node.client.fetch([90, 94, 95])).toEqual([blocks[0], blocks[4], undefined])
  const served = (): number => server.events.reduce((sum, { served: { found = 0, not_found: none = 0 } }) => sum + found + none, 0)
  await server.until(() => served() === 3)
})

it('p2p/net: fetches more blocks from one peer than it takes streams at once', async () => {
  const blocks = chainOf(config, 60, 24)
  await using server = await startTestNode(config, {}, (number) => blocks.find(({ blockNumber }) => blockNumber === number))
  await using client = await startTestNode(config, { staticPeers: [server.address] })
  await client.until(() => client.node.identities.serves(server.node.listening.peerId))
  expect(await client.node.client.fetch(blocks.map(({ blockNumber }) => blockNumber))).toEqual(blocks)
})

it('p2p/net: a peer that publishes a block with another signature loses its score', async () => {
  await using honest = await startTestNode(config)
  await using hostile = await startTestNode(config, { staticPeers: [honest.address] })
  const { peerId } = hostile.node.listening
  await honest.until(() => honest.node.gossip.meshPeers() === 1)
  await hostile.node.publish(signBlock(config, blockOf(config, 100), new Uint8Array(32).fill(7)))
  await honest.until(() => sumOf(honest.events, 'invalid_signer') === 1)
  expect(honest.blocks).toEqual([])
  expect(honest.node.gossip.score(peerId)).toBeLessThan(-40)
})

it('p2p/net: discovery finds all nodes from one bootnode', async () => {
  await using first = await startTestNode(config, { hasDiscovery: true })
  const bootnodes = [first.node.enr]
  await using second = await startTestNode(config, { hasDiscovery: true, bootnodes })
  await using third = await startTestNode(config, { hasDiscovery: true, bootnodes })
  await third.until(() => third.node.isConnected(second.node.listening.peerId))
  await first.until(() => first.node.host.getPeers().length === 2)
})

it('p2p/net: binds the port of its settings when other ones are advertised', async () => {
  const advertise = { host: '192.0.2.1', tcpPort: 40_001, udpPort: 40_002 }
  const free = await startTestNode(config, { advertise })
  const { tcpPort: port } = free.node.listening
  expect([0, 40_001]).not.toContain(port)
  await free[Symbol.asyncDispose]()
  await using node = await startTestNode(config, { hasDiscovery: true, port, advertise })
  const { listening, enr, host } = node.node
  expect(listening).toMatchObject({ tcpPort: port, udpPort: port })
  expect(ENR.decodeTxt(enr)).toMatchObject({ ip: '192.0.2.1', tcp: 40_001, udp: 40_002 })
  expect(host.getMultiaddrs().map(String)).toEqual([`/ip4/192.0.2.1/tcp/40001/p2p/${listening.peerId}`])
  const other = createSocket('udp4')
  other.bind({ address: '127.0.0.1', port, exclusive: true })
  expect((await once(other, 'error'))[0]).toMatchObject({ code: 'EADDRINUSE' })
})
