import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openSocket } from '#test/harness/process/socketClient'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { CallContext } from '../context.ts'
import { rpcMetrics } from '../metrics.ts'
import { createRegistry, methodsOf } from '../registry.ts'
import { ByteList } from '../results/byteList.ts'
import { createRpcServer, type RpcServer } from '../server/httpServer.ts'
import { createIpcServer } from '../server/ipcServer.ts'
import { createWsServer } from '../server/wsServer.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-bytes-'))
afterAll(() => rmSync(dir, { recursive: true }))

const method = methodsOf<CallContext>()
const big = 'x'.repeat(50_000)
const kept = [Buffer.from('["'), Buffer.from(big), Buffer.from('","é"]')]
const common = { doc: 'Test.', params: [], example: { params: [] } } as const

const lazyChunks = 400
const chunk = Buffer.alloc(100_000, 'y')
/** number of chunks that were encoded for all answers */
let encoded = 0
function lazyText(): ByteList {
  const encode = (): Buffer => {
    encoded++
    return chunk
  }
  return new ByteList(Array.from({ length: lazyChunks }, () => ({ length: chunk.length, encode }))).between('"', '"')
}

const registry = createRegistry<CallContext>([
  method({
    ...{ ...common, name: 'test_bytes', cost: 'block-read' },
    result: { doc: 'bytes', bytes: () => new ByteList(kept) },
    run: () => undefined,
  }),
  method({
    ...{ ...common, name: 'test_lazy', cost: 'block-read' },
    result: { doc: 'a string of 40 MB', bytes: () => lazyText() },
    run: () => undefined,
  }),
  method({ ...common, name: 'test_text', cost: 'instant', result: { doc: 'text', encode: (value: string) => value }, run: () => 'ö' }),
])
const result = [big, 'é']
const call = (id: unknown, name = 'test_bytes') => ({ jsonrpc: '2.0', id, method: name, params: [] })
const lazyAnswer = `{"jsonrpc":"2.0","id":1,"result":"${'y'.repeat(lazyChunks * chunk.length)}"}`
const batch = [call(1), call('ä', 'test_text'), call(3)]
const whole = [
  { jsonrpc: '2.0', id: 1, result },
  { jsonrpc: '2.0', id: 'ä', result: 'ö' },
  { jsonrpc: '2.0', id: 3, result },
]

const contextOf = (cancellation: CallContext['cancellation']): CallContext => ({ cancellation })
const deps = { registry, contextOf, pages: new Map(), log: silentLog, clock: systemClock }
const serve = (limits = {}): Promise<RpcServer> =>
  createRpcServer<CallContext>(deps, { host: '127.0.0.1', port: 0, flag: 'http.port', limits })

it.each([
  ['the fast lane', {}, null],
  ['the slow lane', { 'x-other': '1' }, null],
  ['the fast lane, packed', { 'accept-encoding': 'gzip' }, 'gzip'],
  ['the slow lane, packed', { 'accept-encoding': 'gzip', 'x-other': '1' }, 'gzip'],
])(
  'rpc/results/byteList: a client over %s gets byte results as JSON, alone and in a batch',
  async (_lane, headers: Record<string, string>, packed) => {
    await using server = await serve()
    for (const [body, expected] of [
      [call('é'), { jsonrpc: '2.0', id: 'é', result }],
      [batch, whole],
    ]) {
      const given = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...headers }
      const response = await fetch(server.url, { method: 'POST', body: JSON.stringify(body), headers: given })
      expect(response.headers.get('content-encoding')).toBe(packed)
      expect(await response.json()).toEqual(expected)
    }
  },
)

it('rpc/results/byteList: byte results count against the size limit of an answer', async () => {
  await using server = await serve({ maxResponseBytes: 60_000 })
  const ask = async (body: unknown) => await (await fetch(server.url, { method: 'POST', body: JSON.stringify(body) })).json()
  expect(await ask(call(1))).toMatchObject({ id: 1, result })
  expect(await ask(batch)).toMatchObject({ id: null, error: { code: -32008 } })
})

it('rpc/results/byteList: byte results are text messages over WebSocket', async () => {
  const wsDeps = { ...deps, heads: scriptedFeed(), metrics: rpcMetrics.register(new Registry()) }
  await using server = await createWsServer<CallContext>(wsDeps, { host: '127.0.0.1', port: 0, flag: 'ws.port' })
  await using client = await openSocket(server.url)
  const kinds: boolean[] = []
  client.socket.on('message', (_data, isBinary) => kinds.push(isBinary))
  client.send(batch)
  expect(await client.next()).toEqual(whole)
  client.send(call(1))
  expect(await client.next()).toEqual(whole[0])
  expect(kinds).toEqual([false, false])
})

it('rpc/results/byteList: byte results are lines over the Unix socket', async () => {
  const path = join(dir, 'ipc')
  await using _server = await createIpcServer<CallContext>({ ...deps, heads: scriptedFeed() }, { path, flag: 'ipc.path' })
  const socket = connect({ path, allowHalfOpen: true })
  const read = text(socket)
  socket.end(`${JSON.stringify(call(1))}`)
  expect((await read).split('\n').map((line) => (line === '' ? '' : (JSON.parse(line) as unknown)))).toEqual([whole[0], ''])
})

it.each([
  ['the fast lane', ''],
  ['the slow lane', 'x-other: 1\r\n'],
])('rpc/results/byteList: %s encodes a lazy result while the client reads it, then answers the next request', async (_lane, header) => {
  await using server = await serve()
  const requestOf = (body: unknown): string => {
    const text = JSON.stringify(body)
    return `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${header}content-length: ${text.length}\r\n\r\n${text}`
  }
  encoded = 0
  const socket = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true })
  socket.write(requestOf(call(1, 'test_lazy')) + requestOf(call(2, 'test_text')))
  while (encoded === 0) await (await fetch(server.url, { method: 'POST', body: JSON.stringify(call(3, 'test_text')) })).text()
  expect(encoded).toBeLessThan(lazyChunks / 2)
  const parts: string[] = []
  for await (const part of socket.setEncoding('utf8')) {
    parts.push(String(part))
    if (parts.slice(-2).join('').endsWith('"ö"}')) break
  }
  const expected = [lazyAnswer, '{"jsonrpc":"2.0","id":2,"result":"ö"}']
  const bodies = parts.join('').split(/HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*\r\n/)
  expect(bodies.map((body, at) => body === ['', ...expected][at])).toEqual([true, true, true])
  expect(encoded).toBe(lazyChunks)
})

it('rpc/results/byteList: a lazy result is the same when it is packed', async () => {
  await using server = await serve()
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  const response = await fetch(server.url, { method: 'POST', body: JSON.stringify(call(1, 'test_lazy')), headers })
  expect(response.headers.get('content-encoding')).toBe('gzip')
  expect((await response.text()) === lazyAnswer).toBe(true)
})

it('rpc/results/byteList: a client that has closed its half of the connection gets all of a lazy result', async () => {
  await using server = await serve()
  const socket = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true })
  const body = JSON.stringify(call(1, 'test_lazy'))
  socket.end(`POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  const answer = await text(socket)
  expect(answer.length - answer.indexOf('\r\n\r\n')).toBe(lazyChunks * chunk.length + '\r\n\r\n{"jsonrpc":"2.0","id":1,"result":""}'.length)
})

type OpenClient = { readonly send: (body: unknown) => void; readonly pause: () => void; readonly read: () => Promise<readonly string[]> }

/** Opens a client that reads nothing until `read`, which returns its messages up to an answer to `test_text`. */
async function clientOf(over: 'WebSocket' | 'the Unix socket', stack: AsyncDisposableStack): Promise<() => Promise<OpenClient>> {
  const isLast = (messages: readonly string[]): boolean => messages.at(-1)?.includes('"id":2') === true
  if (over === 'WebSocket') {
    const wsDeps = { ...deps, heads: scriptedFeed(), metrics: rpcMetrics.register(new Registry()) }
    const server = stack.use(await createWsServer<CallContext>(wsDeps, { host: '127.0.0.1', port: 0, flag: 'ws.port' }))
    return async () => {
      const socket = new WebSocket(server.url)
      stack.defer(() => socket.terminate())
      await once(socket, 'open')
      return {
        send: (body) => socket.send(JSON.stringify(body)),
        pause: () => socket.pause(),
        async read(): Promise<readonly string[]> {
          const messages: string[] = []
          socket.on('message', (data: Buffer) => messages.push(data.toString()))
          socket.resume()
          while (!isLast(messages)) await once(socket, 'message')
          return messages
        },
      }
    }
  }
  const path = join(dir, `ipc-${Math.random()}`)
  stack.use(await createIpcServer<CallContext>({ ...deps, heads: scriptedFeed() }, { path, flag: 'ipc.path' }))
  return async () => {
    const socket = connect({ path })
    stack.defer(() => void socket.destroy())
    await once(socket, 'connect')
    return {
      send: (body) => socket.write(JSON.stringify(body)),
      pause: () => socket.pause(),
      async read(): Promise<readonly string[]> {
        const messages: string[] = []
        for await (const line of createInterface({ input: socket })) {
          messages.push(line)
          if (isLast(messages)) break
        }
        return messages
      },
    }
  }
}

it.each(['WebSocket', 'the Unix socket'] as const)(
  'rpc/subscriptions/outbox: a lazy result over %s is encoded while the client reads it, and later answers follow it',
  async (over) => {
    await using stack = new AsyncDisposableStack()
    const open = await clientOf(over, stack)
    const [slow, other] = [await open(), await open()]
    encoded = 0
    slow.pause()
    slow.send(call(1, 'test_lazy'))
    slow.send(call(2, 'test_text'))
    other.send(call(2, 'test_text'))
    expect(await other.read()).toHaveLength(1)
    while (encoded === 0) await immediate()
    expect(encoded).toBeLessThan(lazyChunks / 2)
    const messages = await slow.read()
    expect(messages.map((message, at) => message === [lazyAnswer, '{"jsonrpc":"2.0","id":2,"result":"ö"}'][at])).toEqual([true, true])
    expect(encoded).toBe(lazyChunks)
  },
)

it('rpc/subscriptions/outbox: a client of the Unix socket that has closed its half gets all of a lazy result', async () => {
  const path = join(dir, 'ipc-half')
  await using _server = await createIpcServer<CallContext>({ ...deps, heads: scriptedFeed() }, { path, flag: 'ipc.path' })
  const socket = connect({ path, allowHalfOpen: true })
  socket.end(JSON.stringify(call(1, 'test_lazy')))
  expect((await text(socket)) === `${lazyAnswer}\n`).toBe(true)
})
