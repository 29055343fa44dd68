import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import { fast, filledChain, readGap, startTestNode, until, viewOf } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { readHeaders } from '../chainReads.ts'
import type { ExecutionNodeDeps } from './executionNode.ts'
import { parseNode } from './nodeId.ts'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 3_000)
const at = (number: number): Payload => chain[number - 1] ?? expect.fail(`no block ${number}`)

it('executionPeers: fetches headers and bodies backwards from a hash, and returns the blocks oldest first', async () => {
  await using server = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [server.enode] })
  await until(() => client.node.peers.ready().length === 1)
  const opened = await client.node.openGap(1, { number: 2_999, hash: at(2_999).blockHash }, 100, 50)
  expect(opened).toEqual({ kind: 'opened', blocks: 2_899 })
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
  const opened = await client.node.openGap(1, { number: 200, hash: at(200).blockHash }, 100, 10)
  expect(opened).toEqual({ kind: 'opened', blocks: 140 })
  expect((await readGap(client.node, 1))[0]).toEqual(at(61))
  // the safe head is on this branch: nothing below it is replaced
  expect(await client.node.openGap(2, { number: 200, hash: at(200).blockHash }, 100, 80)).toEqual({ kind: 'wrong' })
})

it('executionPeers: waits for a caller that takes its time with the blocks', async () => {
  await using server = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [server.enode] }, fast(10))
  await until(() => client.node.peers.ready().length === 1)
  await client.node.openGap(1, { number: 2_999, hash: at(2_999).blockHash }, 100, 50)
  const first = await client.node.nextBlocks(1)
  // eight seconds of its clock
  await systemClock.delay(800)
  expect(first.length + (await readGap(client.node, 1)).length).toBe(2_899)
})

/** Serves one header of each request, after a pause. */
function slowHeaders(ms: number): { readonly headers: ExecutionNodeDeps['main']['headers']; requests: number } {
  const view = viewOf(config, chain)
  const served = {
    requests: 0,
    headers: async (query: Parameters<typeof readHeaders>[1]) => {
      served.requests++
      await systemClock.delay(ms)
      return readHeaders(view, { ...query, amount: 1 }, () => systemClock.elapsedMs())
    },
  }
  return served
}
const top = { number: 2_999, hash: at(2_999).blockHash }

it('executionPeers/net/gap: a peer that returns its headers slowly is asked once, when another one is faster', async () => {
  const slow = slowHeaders(500)
  await using first = await startTestNode(config, () => chain, {}, systemClock, { headers: slow.headers })
  await using second = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [first.enode] })
  await until(() => client.node.peers.ready().length === 1)
  client.node.peers.keep(parseNode(second.enode))
  await until(() => client.node.peers.ready().length === 2)
  expect(await client.node.openGap(1, top, 100, 50)).toEqual({ kind: 'opened', blocks: 2_899 })
  expect(slow.requests).toBe(1)
}, 30_000)

/** Answers requests with an empty list after six seconds of a client whose clock is four times as fast; the first one after `firstMs`. */
function emptyAnswers(firstMs: number) {
  let requests = 0
  return async () => {
    await systemClock.delay((requests++ === 0 ? firstMs : 6_000) / 4)
    return { items: [], ms: 0 }
  }
}

it.each(['headers', 'bodies'] as const)(
  'executionPeers/net/gap: two peers that return no %s, in turns, do not keep an honest one from the gap',
  async (kind) => {
    await using parts = new AsyncDisposableStack()
    const start = async (firstMs?: number) =>
      parts.use(await startTestNode(config, () => chain, {}, systemClock, firstMs === undefined ? {} : { [kind]: emptyAnswers(firstMs) }))
    const nodes = [await start(6_000), await start(3_000), await start()]
    const client = parts.use(await startTestNode(config, () => chain.slice(0, 100), {}, fast(4)))
    for (const [i, { enode }] of nodes.entries()) {
      client.node.peers.keep(parseNode(enode))
      await until(() => client.node.peers.ready().length === i + 1)
    }
    const small = { number: 162, hash: at(162).blockHash }
    expect(await client.node.openGap(1, small, 100, 50)).toEqual({ kind: 'opened', blocks: 62 })
    expect(await client.node.nextBlocks(1)).toContainEqual(at(101))
  },
  15_000,
)

it('executionPeers/net/gap: blocks of a peer that does not answer are requested from another one', async () => {
  const bodies = () => new Promise<never>(() => {})
  await using silent = await startTestNode(config, () => chain, {}, systemClock, { bodies })
  await using honest = await startTestNode(config, () => chain)
  await using client = await startTestNode(config, () => chain.slice(0, 100))
  for (const [i, { enode }] of [silent, honest].entries()) {
    client.node.peers.keep(parseNode(enode))
    await until(() => client.node.peers.ready().length === i + 1)
  }
  await client.node.openGap(1, { number: 120, hash: at(120).blockHash }, 100, 50)
  expect(await client.node.nextBlocks(1)).toEqual(chain.slice(100, 120))
  // it has its ten seconds
  expect(client.node.peers.ready().length).toBe(2)
}, 30_000)

it('executionPeers/net/gap: a gap fails when peers return empty answers in turns', async () => {
  await using parts = new AsyncDisposableStack()
  const nodes = []
  for (const ms of [6_000, 3_000, 1_000])
    nodes.push(parts.use(await startTestNode(config, () => chain, {}, systemClock, { bodies: emptyAnswers(ms) })))
  const staticPeers = nodes.map(({ enode }) => enode)
  const client = parts.use(await startTestNode(config, () => chain.slice(0, 100), { staticPeers }, fast(4)))
  await until(() => client.node.peers.ready().length === 3)
  await client.node.openGap(1, { number: 120, hash: at(120).blockHash }, 100, 50)
  expect(await client.node.nextBlocks(1)).toBe('unavailable')
}, 15_000)

it('executionPeers/net/gap: headers that come one at a time do not hold up the caller', async () => {
  await using only = await startTestNode(config, () => chain, {}, systemClock, { headers: slowHeaders(50).headers })
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [only.enode] }, fast(30))
  await until(() => client.node.peers.ready().length === 1)
  expect(await client.node.openGap(1, top, 100, 50)).toEqual({ kind: 'unavailable' })
}, 30_000)

it('executionPeers: a gap can be closed while its headers are fetched, and leaves its place to another one', async () => {
  const isSilent = { headers: () => new Promise<never>(() => {}) }
  await using silent = await startTestNode(config, () => chain, {}, systemClock, isSilent)
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [silent.enode] }, fast(10))
  await until(() => client.node.peers.ready().length === 1)
  const open = (id: number): Promise<unknown> => client.node.openGap(id, top, 100, 50).catch(errorMessage)
  const opened = [open(1), open(2), open(3)]
  client.node.closeGap(1)
  opened.push(open(4))
  for (const id of [2, 4]) client.node.closeGap(id)
  const closed = 'the gap is closed'
  expect(await Promise.all(opened)).toEqual([closed, closed, '2 gaps are being filled', closed])
})

it('executionPeers/net/gap: a gap that is closed while its next blocks are awaited is not filled', async () => {
  const bodies = () => new Promise<never>(() => {})
  await using silent = await startTestNode(config, () => chain, {}, systemClock, { bodies })
  await using client = await startTestNode(config, () => chain.slice(0, 100), { staticPeers: [silent.enode] })
  await until(() => client.node.peers.ready().length === 1)
  await client.node.openGap(1, top, 100, 50)
  const next = client.node.nextBlocks(1)
  client.node.closeGap(1)
  await expect(next).rejects.toThrow('the gap is closed')
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
