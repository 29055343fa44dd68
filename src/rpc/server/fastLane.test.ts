import { once } from 'node:events'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import type { CallContext } from '../context.ts'
import { createRegistry, methodsOf, optionalParam, type ParamCodec, type ResultCodec } from '../registry.ts'
import { createRpcServer, type RpcServer, type RpcServerOptions } from './httpServer.ts'

const method = methodsOf<CallContext>()
const anything: ParamCodec<unknown> & ResultCodec<unknown> = { doc: 'x', parse: (value) => value, encode: (value) => value as string }
const common = {
  doc: 'Test.',
  params: [optionalParam('value', anything, undefined, 'none')],
  result: anything,
  example: { params: [] },
} as const

async function serve(options: Partial<RpcServerOptions> = {}, clock = systemClock) {
  const lines: string[] = []
  const late = Promise.withResolvers<string>()
  const registry = createRegistry<CallContext>([
    method({ ...common, name: 'test_echo', cost: 'instant', run: (_context, value) => value }),
    method({ ...common, name: 'test_late', cost: 'execution', run: () => late.promise }),
  ])
  const log = createLog('info', { write: (line) => line.includes('rpc listening') || lines.push(line) })
  const deps = { registry, contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }), pages: new Map(), log, clock }
  const server = await createRpcServer<CallContext>(deps, { host: '127.0.0.1', port: 0, flag: 'http.port', ...options })
  return Object.assign(server, { lines, late })
}

const call = (name: string, id: unknown, ...params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id, method: name, params })
const posted = (body: string, headers = '', target = '/'): string =>
  `POST ${target} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** A connection whose bytes the test writes itself. */
async function dial(server: RpcServer) {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('end', () => resolve(received)).on('close', () => resolve(received)))
  await once(socket, 'connect')
  const bodies = () =>
    received
      .split(/HTTP\/1\.1 /)
      .slice(1)
      .map((one) => JSON.parse(one.slice(one.indexOf('\r\n\r\n') + 4) || 'null') as unknown)
  return {
    ...{ socket, closed, write: (text: string) => void socket.write(text) },
    received: () => received,
    answers: async (count: number) => {
      await vi.waitFor(() => expect(bodies()).toHaveLength(count))
      return bodies()
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
const ids = (answers: readonly unknown[]) => answers.map((answer) => (answer as { id: unknown }).id)

it.each([
  ['a call', call('test_echo', 1, 'é')],
  ['a batch', `[${call('test_echo', 1)},${call('test_none', 2)}]`],
  ['a notification', '{"jsonrpc":"2.0","method":"test_echo"}'],
  ['no JSON', '{'],
  ['no UTF-8', '"\xff'],
  ['nothing', ''],
])('rpc/server/fastLane: answers %s as the HTTP server of node does', async (_what, body) => {
  await using server = await serve()
  using plain = await dial(server)
  using other = await dial(server)
  plain.write(posted(body))
  other.write(posted(body, 'x-other: 1\r\n'))
  await vi.waitFor(() => expect(Math.min(plain.received().length, other.received().length)).toBeGreaterThan(50))
  const parts = (text: string) => {
    const [head = '', told] = text.split('\r\n\r\n')
    const lines = head
      .toLowerCase()
      .split('\r\n')
      .filter((line) => !line.startsWith('date:'))
    return [lines.sort(), told]
  }
  expect(parts(plain.received())).toEqual(parts(other.received()))
  expect(plain.received()).toMatch(/\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/i)
})

it('rpc/server/fastLane: answers pipelined requests in order, also with a slow call and a request that is not plain among them', async () => {
  await using server = await serve()
  using client = await dial(server)
  const [plain, chunked] = [call('test_echo', 'plain'), call('test_echo', 'chunked')]
  const pieces = `POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${chunked.length.toString(16)}\r\n${chunked}\r\n0\r\n\r\n`
  client.write(posted(plain) + posted(call('test_late', 'late')) + posted(plain) + pieces + posted(call('test_echo', 'after')))
  expect(ids(await client.answers(1))).toEqual(['plain'])
  await settle()
  expect(ids(await client.answers(1))).toEqual(['plain'])
  server.late.resolve('done')
  expect(ids(await client.answers(5))).toEqual(['plain', 'late', 'plain', 'chunked', 'after'])
})

it('rpc/server/fastLane: answers a request that arrives byte by byte, and the next one', async () => {
  await using server = await serve()
  for (const headers of ['', 'x-other: 1\r\n']) {
    using client = await dial(server)
    for (const byte of posted(call('test_echo', 1, 'slow'), headers)) {
      client.write(byte)
      await new Promise(setImmediate)
    }
    await client.answers(1)
    const whole = posted(call('test_echo', 2, 'x'.repeat(3_000)), headers)
    const head = whole.indexOf('{')
    for (const piece of [whole.slice(0, head), whole.slice(head, head + 1_000), whole.slice(head + 1_000)]) {
      client.write(piece)
      await settle()
    }
    expect(ids(await client.answers(2))).toEqual([1, 2])
  }
})

it.each([
  ['two lengths', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}', 400],
  ['a length and chunks', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 400],
  ['a length that is no number', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0x2\r\n\r\n{}', 400],
  ['a blank before a colon', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length : 2\r\n\r\n{}', 400],
  ['a folded header', 'POST / HTTP/1.1\r\nhost: a\r\naccept: b\r\n c\r\ncontent-length: 2\r\n\r\n{}', 400],
  ['no host', 'POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}', 400],
  ['a head without end', `POST / HTTP/1.1\r\nhost: a\r\naccept: ${'x'.repeat(20_000)}`, 431],
  ['a method of its own', 'BREW / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
])('rpc/server/fastLane: refuses a request with %s as node does, with status %3$i', async (_what, text, status) => {
  await using server = await serve({ hostNames: 'any' })
  using client = await dial(server)
  client.write(text)
  expect(await client.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})

it('rpc/server/fastLane: answers Expect: 100-continue', async () => {
  await using server = await serve()
  using client = await dial(server)
  const [head, body] = posted(call('test_echo', 1), 'expect: 100-continue\r\n').split('\r\n\r\n')
  client.write(`${head}\r\n\r\n`)
  await vi.waitFor(() => expect(client.received()).toBe('HTTP/1.1 100 Continue\r\n\r\n'))
  client.write(body ?? '')
  await vi.waitFor(() => expect(client.received()).toMatch(/HTTP\/1.1 200 OK[\s\S]*"id":1/))
})

it('rpc/server/fastLane: ends a connection whose body never arrives completely', async () => {
  const clock = createManualClock()
  await using server = await serve({}, clock)
  using client = await dial(server)
  client.write(posted(call('test_echo', 1)).slice(0, -5))
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  await clock.advanceMs(30_000)
  expect(await client.closed).toBe('')
  expect(server.lines).toEqual([])
})

it('rpc/server/fastLane: ends a connection without a request after the time-out', async () => {
  await using server = await serve({ limits: { requestTimeoutMs: 30 } })
  using client = await dial(server)
  expect(await client.closed).toBe('')
})

it('rpc/server/fastLane: answers a client that has half-closed its connection', async () => {
  await using server = await serve()
  using client = await dial(server)
  client.socket.end(posted(call('test_echo', 1)))
  expect(await client.closed).toMatch(/^HTTP\/1.1 200 OK[\s\S]*"id":1/)
})

it('rpc/server/fastLane: on close, ends idle connections at once and others after their last answer', async () => {
  const server = await serve()
  using idle = await dial(server)
  using waits = await dial(server)
  idle.write(posted(call('test_echo', 1)))
  await idle.answers(1)
  waits.write(posted(call('test_late', 2)))
  await settle()
  await vi.waitFor(() => expect(waits.socket.bytesWritten).toBeGreaterThan(0))
  const closed = server[Symbol.asyncDispose]()
  await idle.closed
  server.late.resolve('done')
  expect(await waits.closed).toMatch(/connection: close[\s\S]*"result":"done"/)
  await closed
})

it('rpc/server/fastLane: compresses a large answer only for a client that accepts gzip', async () => {
  await using server = await serve()
  const big = call('test_echo', 1, 'é'.repeat(40_000))
  const ask = async (encoding: string, other: Record<string, string> = {}) => {
    const answer = await fetch(server.url, { method: 'POST', body: big, headers: { 'accept-encoding': encoding, ...other } })
    return [answer.headers.get('content-encoding'), ((await answer.json()) as { result: string }).result.length]
  }
  for (const other of [{}, { 'x-other': '1' }]) {
    expect(await ask('gzip', other)).toEqual(['gzip', 40_000])
    expect(await ask('br;q=1, gzip;q=0', other)).toEqual([null, 40_000])
  }
  using client = await dial(server)
  const chunks: Buffer[] = []
  client.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  client.write(posted(call('test_echo', 1, 'x'.repeat(40_000)), 'accept-encoding: gzip\r\n'))
  await vi.waitFor(() => expect(client.received()).toMatch(/content-length: (\d+)/))
  await settle()
  const bytes = Buffer.concat(chunks)
  const head = bytes.indexOf('\r\n\r\n') + 4
  expect(JSON.parse(gunzipSync(bytes.subarray(head)).toString())).toMatchObject({ id: 1 })
  expect(bytes.subarray(0, head).toString()).toMatch(/vary: accept-encoding/)
})
