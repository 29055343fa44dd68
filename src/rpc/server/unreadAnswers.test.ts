import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { createLog, silentLog } from '#lib/log'
import { openSocket } from '#test/harness/process/socketClient'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { CallContext, SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import { createRegistry, methodsOf, type ParamCodec, param } from '../registry.ts'
import { createRpcServer, type RpcServerOptions } from './httpServer.ts'
import { createWsServer, type WsServerLimits } from './wsServer.ts'

// Far larger than the kernel buffers of a client that does not read.
const answerBytes = 8_000_000
const size: ParamCodec<number> = { doc: 'bytes', parse: Number }
const text = { doc: 'text', encode: (value: string) => value }
const method = methodsOf<CallContext>()

function methods() {
  const cancellations: CallContext['cancellation'][] = []
  const blocked = Promise.withResolvers<string>()
  const common = { doc: 'Test.', result: text, example: { params: [] } } as const
  const answer = (context: CallContext, bytes: number): string => {
    cancellations.push(context.cancellation)
    return 'x'.repeat(bytes)
  }
  const registry = createRegistry<CallContext>([
    method({ ...common, name: 'test_big', cost: 'instant', params: [param('bytes', size)], run: answer }),
    method({ ...common, name: 'test_blocked', cost: 'execution', params: [], run: () => blocked.promise }),
  ])
  return { registry, cancellations, blocked }
}

function observed() {
  const lines: string[] = []
  const registry = new Registry()
  const endsOf = async (over: 'http' | 'websocket'): Promise<number> =>
    (await registry.getSingleMetric('basalt_rpc_unread_ends_total')?.get())?.values.find(({ labels }) => labels['over'] === over)?.value ??
    -1
  return { lines, log: createLog('warn', { write: (line) => lines.push(line) }), metrics: rpcMetrics.register(registry), endsOf, registry }
}

async function serveHttp(maxUnreadTotalBytes: number, options: Partial<RpcServerOptions> = {}) {
  const { log, metrics, lines, endsOf } = observed()
  const { registry, cancellations, blocked } = methods()
  const server = await createRpcServer<CallContext>(
    { registry, contextOf: (cancellation) => ({ cancellation }), pages: new Map(), log, clock: systemClock, metrics },
    { host: '127.0.0.1', port: 0, flag: 'http.port', limits: { maxUnreadTotalBytes }, ...options },
  )
  return Object.assign(server, { lines, endsOf, cancellations, blocked })
}

const call = (bytes: number, id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'test_big', params: [bytes] })
const posted = (body: unknown): string => {
  const json = JSON.stringify(body)
  return `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

/** A client that sends requests and does not read until `resume`. */
async function slowClient(port: number, ...bodies: readonly unknown[]): Promise<Socket & { readonly gone: Promise<void> }> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  socket.write(bodies.map(posted).join(''))
  return Object.assign(socket, { gone })
}
async function readBytes(socket: Socket, bytes: number): Promise<void> {
  let left = bytes
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    left -= (chunk as Buffer).length
    if (left <= 0) return
  }
  throw new Error(`the connection ended ${left} bytes too early`)
}
const ask = async (url: string, bytes: number) => (await fetch(url, { method: 'POST', body: JSON.stringify(call(bytes)) })).json()

it('rpc/server/unreadAnswers: over HTTP, ends the slow reader that holds most, and no other client', async () => {
  await using server = await serveHttp(4 * answerBytes)
  const modest = await slowClient(server.port, call(answerBytes))
  const greedy = await slowClient(server.port, call(answerBytes), call(answerBytes)) // one connection, two answers
  await vi.waitFor(() => expect(server.cancellations).toHaveLength(3))
  expect(await ask(server.url, 1_000)).toMatchObject({ id: 1 })
  expect(await server.endsOf('http')).toBe(0)
  const other = await slowClient(server.port, call(answerBytes))
  await vi.waitFor(async () => expect(await server.endsOf('http')).toBe(1))
  greedy.resume()
  await greedy.gone
  await Promise.all([readBytes(modest, answerBytes), readBytes(other, answerBytes)])
  expect(await ask(server.url, 1_000)).toMatchObject({ id: 1 })
  expect(server.lines).toHaveLength(1)
  expect(JSON.parse(server.lines.join())).toMatchObject({ over: 'http', connections: expect.any(Number) })
  for (const socket of [modest, other]) socket.destroy()
})

it('rpc/server/unreadAnswers: counts answers of a batch before they are sent, and stops the rest of the batch', async () => {
  await using server = await serveHttp(4 * answerBytes)
  const reads = await slowClient(server.port, call(answerBytes))
  const batch = Array.from({ length: 50 }, (_each, id) => call(answerBytes, id))
  const greedy = await slowClient(server.port, batch)
  greedy.resume() // starts reading, too late
  await greedy.gone
  expect(server.cancellations.length).toBeLessThan(10)
  expect(await server.endsOf('http')).toBe(1)
  await readBytes(reads, answerBytes)
  reads.destroy()
})

it('rpc/server/unreadAnswers: ends a batch while one of its calls still runs', async () => {
  await using server = await serveHttp(3 * answerBytes)
  const blocked = { jsonrpc: '2.0', id: 9, method: 'test_blocked', params: [] }
  const greedy = await slowClient(server.port, [call(answerBytes), call(answerBytes, 2), blocked])
  await vi.waitFor(() => expect(server.cancellations).toHaveLength(2))
  const others = [await slowClient(server.port, call(answerBytes)), await slowClient(server.port, call(answerBytes))]
  greedy.resume()
  await greedy.gone
  await Promise.all(others.map((socket) => readBytes(socket, answerBytes)))
  server.blocked.resolve('late')
  for (const socket of others) socket.destroy()
  expect(await server.endsOf('http')).toBe(1)
})

it('rpc/server/unreadAnswers: over HTTP, stops counting read and aborted answers, on open connections too', async () => {
  await using server = await serveHttp(2 * answerBytes)
  const reader = await slowClient(server.port)
  for (let each = 0; each < 4; each++) {
    reader.write(posted(call(answerBytes)))
    await readBytes(reader, answerBytes)
    expect(await ask(server.url, answerBytes)).toMatchObject({ id: 1 })
  }
  for (let each = 0; each < 4; each++) {
    const made = server.cancellations.length
    const aborts = await slowClient(server.port, call(answerBytes - 1_000), call(500))
    await vi.waitFor(() => expect(server.cancellations).toHaveLength(made + 2))
    if (each % 2 === 0) aborts.destroy()
    else aborts.resetAndDestroy()
    await vi.waitFor(() => expect(server.cancellations.slice(made).every(({ isCancelled }) => isCancelled)).toBe(true))
  }
  expect([await server.endsOf('http'), server.lines]).toEqual([0, []])
  await expect(ask(server.url, 3 * answerBytes)).rejects.toThrow()
  expect(JSON.parse(server.lines.join()).connections).toBeLessThan(4) // closed connections are forgotten
  reader.destroy()
})

async function serveWs(limits: Partial<WsServerLimits>) {
  const { log, metrics, lines, endsOf, registry: prometheus } = observed()
  const { registry, cancellations } = methods()
  const feed = scriptedFeed()
  const chain = fakeChain([[], [[]]])
  const eth = fakeContext(chain)
  const server = await createWsServer<SocketContext>(
    {
      registry: new Map([...socketRegistry, ...registry]),
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      ...{ heads: feed, log, clock: systemClock, metrics },
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port', limits },
  )
  const metric = async (name: string) => (await prometheus.metrics()).split('\n').find((line) => line.startsWith(name))
  const tell = () => feed.tell(chain.blocks[1] ?? expect.fail())
  return Object.assign(server, { lines, endsOf, metric, tell, cancellations })
}

it('rpc/server/unreadAnswers: over WebSocket, ends the connection that holds most at once; the others get their answers', async () => {
  await using server = await serveWs({ maxUnreadTotalBytes: 4 * answerBytes })
  const clients = [await openSocket(server.url), await openSocket(server.url), await openSocket(server.url)]
  const [modest = expect.fail(), greedy = expect.fail(), other = expect.fail()] = clients
  for (const { socket } of clients) socket.pause()
  modest.send(call(answerBytes))
  greedy.send([call(answerBytes), call(answerBytes, 2)])
  await vi.waitFor(() => expect(server.cancellations).toHaveLength(3))
  expect(await server.endsOf('websocket')).toBe(0)
  other.send(call(answerBytes))
  await vi.waitFor(async () => expect(await server.metric('basalt_rpc_socket_ends_total{why="greedy"}')).toMatch(/ 1$/))
  for (const { socket } of clients) socket.resume()
  expect(await greedy.closed).toMatchObject({ code: 1006 })
  expect([await modest.next(), await other.next()]).toMatchObject([{ id: 1 }, { id: 1 }])
  expect(await modest.call('eth_chainId')).toMatchObject({ result: '0x2105' })
  expect([await server.endsOf('websocket'), server.lines.length]).toEqual([1, 1])
  for (const client of clients) await client[Symbol.asyncDispose]()
})

it('rpc/server/unreadAnswers: ends a connection that is already closing first, at once', async () => {
  await using server = await serveWs({ maxUnreadTotalBytes: 3 * answerBytes, maxUnreadBytes: 100_000, closeTimeoutMs: 60_000 })
  await using slow = await openSocket(server.url)
  await using other = await openSocket(server.url)
  await slow.call('eth_subscribe', 'newHeads')
  slow.socket.pause()
  slow.send([call(answerBytes), call(answerBytes, 2)])
  await vi.waitFor(() => expect(server.cancellations).toHaveLength(2))
  await new Promise(setImmediate) // answered
  for (let each = 0; each < 300; each++) server.tell() // exceeds its unread limit: the server closes it, and the client does not react
  expect(await server.metric('basalt_rpc_socket_connections')).toMatch(/ 2$/)
  other.socket.pause()
  other.send([call(answerBytes), call(answerBytes, 2)])
  await vi.waitFor(async () => expect(await server.endsOf('websocket')).toBe(1))
  await vi.waitFor(async () => expect(await server.metric('basalt_rpc_socket_ends_total{why="slow"}')).toMatch(/ 1$/))
  other.socket.resume()
  expect(await other.next()).toHaveLength(2)
})

it('rpc/server/unreadAnswers: over WebSocket, stops counting what was read, notified or discarded', async () => {
  await using server = await serveWs({ maxUnreadTotalBytes: 1.5 * answerBytes })
  await using reader = await openSocket(server.url)
  await reader.call('eth_subscribe', 'newHeads')
  for (let each = 0; each < 4; each++) {
    expect(await reader.call('test_big', answerBytes)).toMatchObject({ result: expect.any(String) })
    for (let told = 0; told < 100; told++) server.tell()
    for (let told = 0; told < 100; told++) await reader.next()
    const aborts = await openSocket(server.url)
    aborts.socket.pause()
    const made = server.cancellations.length
    aborts.send(call(answerBytes))
    await vi.waitFor(() => expect(server.cancellations).toHaveLength(made + 1))
    aborts.socket.terminate()
    await vi.waitFor(async () => expect(await server.metric('basalt_rpc_socket_connections')).toMatch(/ 1$/))
  }
  expect([await server.endsOf('websocket'), server.lines]).toEqual([0, []])
  await using last = await openSocket(server.url)
  last.send(call(2 * answerBytes))
  await last.closed
  expect(JSON.parse(server.lines.join())).toMatchObject({ connections: 2 }) // closed connections are forgotten
})

it('rpc/server/unreadAnswers: HTTP and WebSocket of one port share its limit', async () => {
  await using server = await serveHttp(3 * answerBytes, { maxSockets: 4 })
  await using greedy = await openSocket(server.url.replace('http:', 'ws:'))
  greedy.socket.pause()
  for (const id of [1, 2]) greedy.send(call(answerBytes, id))
  await vi.waitFor(() => expect(server.cancellations).toHaveLength(2))
  const other = await slowClient(server.port, call(answerBytes))
  await vi.waitFor(async () => expect(await server.endsOf('websocket')).toBe(1))
  greedy.socket.resume()
  expect(await greedy.closed).toMatchObject({ code: 1006 })
  await readBytes(other, answerBytes)
  expect(await server.endsOf('http')).toBe(0)
  await using reader = await openSocket(server.url.replace('http:', 'ws:'))
  for (let each = 0; each < 4; each++) expect(await reader.call('test_big', answerBytes)).toMatchObject({ id: each + 1 })
  expect(server.lines).toHaveLength(1)
  other.destroy()
})

it('rpc/server/unreadAnswers: without metrics, reports in the log only', async () => {
  const { registry } = methods()
  await using server = await createRpcServer<CallContext>(
    { registry, contextOf: (cancellation) => ({ cancellation }), pages: new Map(), log: silentLog, clock: systemClock },
    { host: '127.0.0.1', port: 0, flag: 'http.port', limits: { maxUnreadTotalBytes: 1_000 } },
  )
  await expect(ask(server.url, 2_000)).rejects.toThrow()
  expect(await ask(server.url, 500)).toMatchObject({ id: 1 })
})

it('rpc/server/unreadAnswers: counts unread notifications like answers', async () => {
  await using server = await serveWs({ maxUnreadTotalBytes: answerBytes, maxUnreadBytes: 10 * answerBytes })
  await using slow = await openSocket(server.url)
  await using quick = await openSocket(server.url)
  for (const client of [slow, quick]) await client.call('eth_subscribe', 'newHeads')
  slow.socket.pause()
  let told = 0
  while ((await server.endsOf('websocket')) === 0) {
    for (let each = 0; each < 1_000; each++, told++) {
      server.tell()
      if (each % 50 === 0) await new Promise(setImmediate)
    }
    expect(told).toBeLessThan(100_000)
  }
  for (let taken = 0; taken < told; taken++) expect(await quick.next()).toMatchObject({ method: 'eth_subscription' })
  slow.socket.resume()
  expect(await slow.closed).toMatchObject({ code: 1006 })
  expect(await server.metric('basalt_rpc_socket_ends_total{why="greedy"}')).toMatch(/ 1$/)
})
