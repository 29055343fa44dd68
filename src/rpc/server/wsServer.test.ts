import { once } from 'node:events'
import { connect } from 'node:net'
import { Registry } from 'prom-client'
import { createPublicClient, webSocket } from 'viem'
import { expect, it, vi } from 'vitest'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { account, type FakeChain, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { type ScriptedFeed, scriptedFeed } from '#test/harness/rpc/headFeed'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import type { HeadBlock } from '../ports.ts'
import type { Registry as Methods } from '../registry.ts'
import type { RpcServer } from './httpServer.ts'
import { createWsServer, type WsServerOptions } from './wsServer.ts'

const log = { address: account(1), topics: [topic(1)], data: new Uint8Array(0) }

type Served = RpcServer & { readonly chain: FakeChain; readonly feed: ScriptedFeed; metric(line: string): Promise<string | undefined> }

async function serve(
  options: Partial<WsServerOptions> = {},
  clock: Clock = systemClock,
  registry: Methods<SocketContext> = socketRegistry,
): Promise<Served> {
  const chain = fakeChain([[], [[]], [[]], []])
  const feed = scriptedFeed()
  const eth = fakeContext(chain)
  const metrics = new Registry()
  const server = await createWsServer<SocketContext>(
    {
      registry,
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      heads: feed,
      log: silentLog,
      clock,
      metrics: rpcMetrics.register(metrics),
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port', ...options },
  )
  const metric = async (name: string) => (await metrics.metrics()).split('\n').find((line) => line.startsWith(name))
  return Object.assign(server, { chain, feed, metric })
}

const blockAt = ({ chain }: Served, number: number): HeadBlock => {
  const block = chain.blocks[number]
  if (block === undefined) throw new Error(`no block ${number}`)
  return block
}
const subscribed = async (client: SocketClient): Promise<string> => String((await client.call('eth_subscribe', 'newHeads'))['result'])
const hashIn = (message: Readonly<Record<string, unknown>>): unknown => (message['params'] as { result: { hash: string } }).result.hash

it('rpc/server/wsServer: answers calls and batches like HTTP, and refuses malformed JSON', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  expect(await client.call('eth_blockNumber')).toEqual({ jsonrpc: '2.0', id: 1, result: '0x3' })
  client.send([
    { jsonrpc: '2.0', id: 'a', method: 'eth_chainId' },
    { jsonrpc: '2.0', method: 'eth_chainId' },
  ])
  expect(await client.next()).toEqual([{ jsonrpc: '2.0', id: 'a', result: '0x2105' }])
  client.send('{')
  expect(await client.next()).toMatchObject({ id: null, error: { code: -32700 } })
  client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":7,"method":"net_version"}'))
  expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 7, result: '8453' })
})

it('rpc/server/wsServer: sends each head once, in order, after the answer to eth_subscribe, and none after eth_unsubscribe', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await using other = await openSocket(server.url)
  const [one, two] = [await subscribed(client), await subscribed(other)]
  expect(one).toMatch(/^0x[0-9a-f]{32}$/)
  expect(one).not.toBe(two)
  server.feed.tell(blockAt(server, 1), blockAt(server, 2))
  for (const number of [1, 2]) {
    const { hash } = blockAt(server, number)
    const message = await client.next()
    expect(message).toMatchObject({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: one, result: { hash } } })
    expect(message).not.toHaveProperty('id')
    expect(hashIn(await other.next())).toBe(hash)
  }
  expect(await other.call('eth_unsubscribe', one)).toMatchObject({ result: false })
  expect(await client.call('eth_unsubscribe', one)).toMatchObject({ result: true })
  expect(await client.call('eth_unsubscribe', one)).toMatchObject({ result: false })
  server.feed.tell(blockAt(server, 3))
  expect(hashIn(await other.next())).toBe(blockAt(server, 3).hash)
  expect(await client.call('eth_chainId')).toMatchObject({ result: '0x2105' })
})

it('rpc/server/wsServer: after a reorg, sends the headers of the new branch, oldest first', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await subscribed(client)
  server.feed.tell(blockAt(server, 2), blockAt(server, 3))
  server.chain.reorganise(2, [[[log]], [], []])
  server.feed.tell(...[2, 3, 4].map((number) => blockAt(server, number)))
  const told = [await client.next(), await client.next(), await client.next(), await client.next(), await client.next()]
  const numbers = told.map((message) => (message['params'] as { result: { number: string } }).result.number)
  expect(numbers).toEqual(['0x2', '0x3', '0x2', '0x3', '0x4'])
  expect(new Set(told.map(hashIn)).size).toBe(5)
})

it('rpc/server/wsServer: refuses unknown subscription kinds by name, and does not start a subscription requested by a notification', async () => {
  await using server = await serve({ limits: { maxSubscriptions: 2 } })
  await using client = await openSocket(server.url)
  expect(await client.call('eth_subscribe', 'newFlashblocks')).toMatchObject({
    error: {
      code: -32004,
      message: 'not supported by this version: eth_subscribe newFlashblocks: this node has no feed of flashblocks, use newHeads',
    },
  })
  expect(await client.call('eth_subscribe', 'nonsense')).toMatchObject({ error: { code: -32602 } })
  expect(await client.call('eth_subscribe', 5)).toMatchObject({ error: { code: -32602 } })
  client.send({ jsonrpc: '2.0', method: 'eth_subscribe', params: ['newHeads'] })
  client.send([{ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }])
  const [{ result }] = (await client.next()) as unknown as [{ result: string }]
  await subscribed(client)
  expect(await client.call('eth_subscribe', 'newHeads')).toMatchObject({ error: { code: -32006 } })
  server.feed.tell(blockAt(server, 1))
  expect([await client.next(), await client.next()].map((each) => (each['params'] as { subscription: string }).subscription)).toContain(
    result,
  )
  expect(await client.call('eth_chainId')).toMatchObject({ result: '0x2105' })
})

it('rpc/server/wsServer: viem watches blocks over a WebSocket', async () => {
  await using server = await serve()
  const client = createPublicClient({ transport: webSocket(server.url, { reconnect: false }) })
  const seen: unknown[] = []
  const second = Promise.withResolvers<void>()
  const stop = client.watchBlocks({
    onBlock: ({ number, hash }) => {
      seen.push([number, hash])
      if (seen.length === 2) second.resolve()
    },
    onError: (error) => second.reject(error),
  })
  await vi.waitFor(async () => expect(await server.metric('basalt_rpc_socket_connections')).toMatch(/ 1$/))
  await client.getBlockNumber()
  server.feed.tell(blockAt(server, 3))
  await vi.waitFor(() => expect(seen).toHaveLength(1))
  server.feed.tell(blockAt(server, 3))
  await second.promise
  expect(seen[0]).toEqual([3n, blockAt(server, 3).hash])
  stop()
  const socket = await client.transport.getSocket()
  socket.close()
})

it('rpc/server/wsServer: disconnects a client that does not read, with a reason, and no other', async () => {
  await using server = await serve({ limits: { maxUnreadBytes: 200_000, closeTimeoutMs: 50 } })
  await using slow = await openSocket(server.url)
  await using quick = await openSocket(server.url)
  await subscribed(slow)
  await subscribed(quick)
  slow.socket.pause()
  let told = 0
  while (!(await server.metric('basalt_rpc_socket_ends_total{why="slow"}'))?.endsWith(' 1')) {
    for (let each = 0; each < 1_000; each++, told++) {
      server.feed.tell(blockAt(server, 1))
      if (each % 50 === 0) await new Promise(setImmediate)
    }
    expect(told).toBeLessThan(100_000)
  }
  for (let taken = 0; taken < told; taken++) expect(await quick.next()).toMatchObject({ method: 'eth_subscription' })
  expect(await quick.call('eth_chainId')).toMatchObject({ result: '0x2105' })
  slow.socket.resume()
  const { code, reason } = await slow.closed
  expect([1006, 1008]).toContain(code) // 1006: the connection ended before the client read the reason
  if (code === 1008) expect(reason).toBe('messages are read too slowly')
})

it('rpc/server/wsServer: ends the connection of a silent client, and keeps a client that answers pings', async () => {
  const clock = createManualClock()
  await using server = await serve({ limits: { pingMs: 1_000, idleMs: 2_500 } }, clock)
  await using alive = await openSocket(server.url)
  const mute = connect(server.port, '127.0.0.1')
  mute.write(
    'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  await once(mute, 'data')
  const gone = once(mute, 'close')
  mute.resume()
  for (let second = 0; second < 4; second++) {
    const pinged = once(alive.socket, 'ping')
    await clock.advanceMs(1_000)
    await pinged
    expect(await alive.call('eth_chainId')).toMatchObject({ result: '0x2105' })
  }
  await gone
  expect(await server.metric('basalt_rpc_socket_ends_total{why="silent"}')).toMatch(/ 1$/)
})

it.each([
  ['a page of another origin', {}, { origin: 'https://evil.example' }, 403],
  ['a page whose name points here', {}, { host: 'rebound.example' }, 403],
  ['one client too many', { limits: { maxConnections: 0 } }, {}, 503],
])('rpc/server/wsServer: refuses %s', async (_what, options, headers, status) => {
  await using server = await serve(options)
  await expect(openSocket(server.url, headers)).rejects.toThrow(`Unexpected server response: ${status}`)
})

it('rpc/server/wsServer: a refused client that stays connected holds no place', async () => {
  await using server = await serve({ limits: { maxConnections: 0 } }) // 16 connections in total
  const clients = []
  for (let each = 0; each < 20; each++) {
    const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    clients.push(client)
    client.on('error', () => {})
    client.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    const [answer] = await Promise.race([once(client, 'data'), once(client, 'close')])
    expect(String(answer)).toMatch(/^HTTP\/1.1 503 /)
  }
  for (const client of clients) client.destroy()
})

it('rpc/server/wsServer: answers pings', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  client.socket.ping('are you there')
  const [data] = (await once(client.socket, 'pong')) as [Buffer]
  expect(data.toString()).toBe('are you there')
})

it('rpc/server/wsServer: accepts an allowed origin, and answers plain HTTP with status 426', async () => {
  await using server = await serve({ origins: ['https://wallet.example'] })
  await using client = await openSocket(server.url, { origin: 'https://wallet.example' })
  expect(await client.call('eth_chainId')).toMatchObject({ result: '0x2105' })
  expect((await fetch(server.url.replace('ws:', 'http:'))).status).toBe(426)
})

it('rpc/server/wsServer: ends the connection of a message that is too large, and no other', async () => {
  await using server = await serve({ limits: { maxMessageBytes: 1_000 } })
  await using big = await openSocket(server.url)
  await using small = await openSocket(server.url)
  big.send('x'.repeat(1_001))
  expect(await big.closed).toMatchObject({ code: 1009 })
  expect(await small.call('eth_chainId')).toMatchObject({ result: '0x2105' })
})

it('rpc/server/wsServer: stops reading at the limit of concurrent messages', async () => {
  let [running, most] = [0, 0]
  const opened: (() => void)[] = []
  const hold = {
    ...(socketRegistry.get('eth_chainId') ?? expect.fail()),
    cost: 'instant' as const,
    call: async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => opened.push(resolve))
      running--
      return 'done'
    },
  }
  await using server = await serve({ limits: { maxRunning: 3 } }, systemClock, new Map([['eth_chainId', hold]]))
  await using client = await openSocket(server.url)
  for (let each = 0; each < 9; each++) {
    client.send({ jsonrpc: '2.0', id: each, method: 'eth_chainId', params: ['x'.repeat(100_000)] })
  }
  for (let each = 0; each < 9; each++) {
    await vi.waitFor(() => expect(opened.length).toBeGreaterThan(0))
    opened.shift()?.()
    expect(await client.next()).toMatchObject({ result: 'done' })
  }
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(9)
})

it('rpc/server/wsServer: on close, finishes running calls, sends a close frame, and unsubscribes from its feed', async () => {
  const late = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const call = () => {
    begun.resolve()
    return late.promise
  }
  const slow = { ...(socketRegistry.get('eth_chainId') ?? expect.fail()), call }
  const server = await serve({}, systemClock, new Map([['eth_chainId', slow]]))
  await using client = await openSocket(server.url)
  expect(server.feed.listeners).toBe(1)
  client.send({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
  await begun.promise
  const closing = server[Symbol.asyncDispose]()
  expect(server.feed.listeners).toBe(0)
  late.resolve('0x1')
  expect(await client.next()).toMatchObject({ result: '0x1' })
  expect(await client.closed).toMatchObject({ code: 1001 })
  await closing
})
