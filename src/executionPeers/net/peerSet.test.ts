import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { filledChain, startTestNode, until } from '#test/harness/executionPeers/nodes'
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
