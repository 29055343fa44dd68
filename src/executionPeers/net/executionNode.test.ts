import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { fast, filledChain, readGap, startTestNode, until } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 3_000)
const at = (number: number): Payload => chain[number - 1] ?? expect.fail(`no block ${number}`)

it('executionPeers: fetches headers and bodies backwards from a hash, and returns the blocks oldest first', async () => {
  await using server = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [server.enode] })
  await until(() => client.node.peers.ready().length === 1)
  const opened = await client.node.openGap({ number: 2_999, hash: at(2_999).blockHash }, 100, 50)
  expect(opened).toEqual({ kind: 'opened', id: 1, blocks: 2_899 })
  const blocks = await readGap(client.node, 1)
  expect(blocks.map(({ blockHash }) => blockHash)).toEqual(chain.slice(100, 2_999).map(({ blockHash }) => blockHash))
  expect(blocks[0]).toEqual(at(101))
})

it('executionPeers: continues below the head when it is on another branch', async () => {
  const other = chain.slice(0, 60)
  for (let number = 61; number <= 100; number++) other.push({ ...at(number), blockHash: zeroHash })
  await using server = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => other, { staticPeers: [server.enode] })
  await until(() => client.node.peers.ready().length === 1)
  const opened = await client.node.openGap({ number: 200, hash: at(200).blockHash }, 100, 10)
  expect(opened).toEqual({ kind: 'opened', id: 1, blocks: 140 })
  expect((await readGap(client.node, 1))[0]).toEqual(at(61))
  // the safe head is on this branch: nothing below it is replaced
  expect(await client.node.openGap({ number: 200, hash: at(200).blockHash }, 100, 80)).toEqual({ kind: 'wrong' })
})

it('executionPeers: waits for a caller that takes its time with the blocks', async () => {
  await using server = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [server.enode] }, fast(10))
  await until(() => client.node.peers.ready().length === 1)
  await client.node.openGap({ number: 2_999, hash: at(2_999).blockHash }, 100, 50)
  const first = await client.node.nextBlocks(1)
  // eight seconds of its clock
  await systemClock.delay(800)
  expect(first.length + (await readGap(client.node, 1)).length).toBe(2_899)
})

it('executionPeers: names the port that discovery cannot bind, and leaves none bound', async () => {
  const taken = createSocket('udp4')
  taken.bind(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address()
  const started = startTestNode(config, () => chain, { hasDiscovery: true, port })
  await expect(started).rejects.toMatchObject({ code: 'EXECUTION_P2P_PORT', severity: 'fatal' })
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  await new Promise((resolve) => server.close(resolve))
  taken.close()
})
