import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { fast, filledChain, startTestNode, until } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import { parseNode } from './nodeId.ts'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 20)

it('executionPeers: nodes that dial each other at once keep one connection, the same on both sides', async () => {
  for (let round = 0; round < 20; round++) {
    await using one = await startTestNode(config, () => chain)
    await using other = await startTestNode(config, () => chain)
    one.node.peers.keep(parseNode(other.enode))
    other.node.peers.keep(parseNode(one.enode))
    const directions = () => [one, other].flatMap(({ node }) => node.peers.ready().map(({ direction }) => direction))
    const isFirstGreater = parseNode(one.enode).id > parseNode(other.enode).id
    const kept = isFirstGreater ? 'outbound,inbound' : 'inbound,outbound'
    await until(() => directions().toString() === kept, kept)
    await systemClock.delay(50)
    expect(directions().toString()).toBe(kept)
  }
})

it('executionPeers/net/peerSet: nodes of one address that discovery found leave half of the places to others', async () => {
  await using parts = new AsyncDisposableStack()
  const start = async (host: string) => parts.use(await startTestNode(config, () => chain, { host, advertisedHost: host }))
  const client = parts.use(await startTestNode(config, () => chain, { maxPeers: 4 }, fast(5)))
  for (let i = 0; i < 6; i++) client.node.peers.candidates.found(parseNode((await start('127.0.0.2')).enode))
  const hosts = () => client.node.peers.ready().map(({ host }) => host)
  await until(() => hosts().length === 2, 'two of one address')
  client.node.peers.candidates.found(parseNode((await start('127.0.0.3')).enode))
  await until(() => hosts().includes('127.0.0.3'), 'the other address')
  expect(hosts().filter((host) => host === '127.0.0.2').length).toBe(2)
  // the operator names one more
  client.node.peers.keep(parseNode((await start('127.0.0.2')).enode))
  await until(() => hosts().length === 4, 'the named node')
}, 30_000)
