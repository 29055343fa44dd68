import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { Fault } from '#lib/fault'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import type { CallContext } from '../context.ts'
import { RpcError } from '../errors.ts'
import { createRegistry, methodsOf, optionalParam, type ParamCodec, type ResultCodec } from '../registry.ts'
import { healthPages } from './healthPages.ts'
import { createRpcServer, type RpcServer, type RpcServerOptions } from './httpServer.ts'

const method = methodsOf<CallContext>()
const anything: ParamCodec<unknown> & ResultCodec<unknown> = {
  doc: 'anything',
  parse: (value) => value,
  encode: (value) => value as string,
}
const common = {
  doc: 'Test.',
  params: [optionalParam('value', anything, undefined, 'none')],
  result: anything,
  example: { params: [] },
} as const
const never = Promise.withResolvers<never>().promise

const registry = createRegistry<CallContext>([
  method({ ...common, name: 'test_echo', cost: 'instant', run: (_context, value) => value }),
  method({ ...common, name: 'test_never', cost: 'execution', run: () => never }),
  method({
    ...common,
    name: 'test_broken',
    cost: 'instant',
    run: () => {
      throw new TypeError('a secret of the inside')
    },
  }),
  method({
    ...common,
    name: 'test_refuses',
    cost: 'instant',
    run: () => {
      throw new RpcError(-32001, 'not here', 'at all')
    },
  }),
  method({
    ...common,
    name: 'test_away',
    cost: 'instant',
    run: () => {
      throw new Fault('ENGINE_UNREACHABLE', 'retry', 'the execution half does not answer', 'start it', { endpoint: 'x' })
    },
  }),
  method({ ...common, name: 'test_big', cost: 'block-read', run: () => 'x'.repeat(600) }),
])

async function serve(
  options: Partial<RpcServerOptions> = {},
  clock = systemClock,
  methods = registry,
): Promise<RpcServer & { lines: string[] }> {
  const lines: string[] = []
  const log = createLog('error', { write: (line) => lines.push(line) })
  let problems: string[] = ['no L1 head yet']
  const pages = healthPages({ readiness: () => ({ problems: problems.splice(0) }) }, 'v1')
  const deps = { registry: methods, contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }), pages, log, clock }
  problems = ['no L1 head yet']
  return Object.assign(await createRpcServer(deps, { host: '127.0.0.1', port: 0, flag: 'http.port', ...options }), { lines })
}

const post = (
  server: RpcServer,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => fetch(server.url, { method: 'POST', body, headers })
const ask = async (server: RpcServer, body: unknown): Promise<unknown> => (await post(server, JSON.stringify(body))).json()
const request = (name: string, id?: unknown, ...params: unknown[]) => ({
  jsonrpc: '2.0',
  method: name,
  ...(id !== undefined && { id }),
  params,
})
const failure = (code: number, message: string, data?: string | object, id: unknown = null) => ({
  ...{ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } },
})

it('rpc/server/httpServer: answers a call with any kind of id', async () => {
  await using server = await serve()
  for (const id of [1, 'a', null, 1.5])
    expect(await ask(server, request('test_echo', id, 'hi'))).toEqual({ jsonrpc: '2.0', id, result: 'hi' })
  expect(await ask(server, { jsonrpc: '2.0', id: 1, method: 'test_echo' })).toEqual({ jsonrpc: '2.0', id: 1, result: null })
})

it('rpc/server/httpServer: answers a batch in order, errors included, without answers to notifications', async () => {
  await using server = await serve()
  const batch = [
    request('test_echo', 1, 'a'),
    request('test_echo'),
    request('test_none', 2),
    7,
    request('test_refuses', 3),
    request('test_echo', 4, 'b'),
  ]
  expect(await ask(server, batch)).toEqual([
    { jsonrpc: '2.0', id: 1, result: 'a' },
    failure(-32601, 'Method not found', undefined, 2),
    failure(-32600, 'Invalid request'),
    failure(-32001, 'not here', 'at all', 3),
    { jsonrpc: '2.0', id: 4, result: 'b' },
  ])
})

it('rpc/server/httpServer: answers notifications with status 204 and no body', async () => {
  await using server = await serve()
  const byName = { ...request('test_echo'), params: {} }
  for (const body of [request('test_echo'), byName, [request('test_echo'), request('test_none'), byName]]) {
    const response = await post(server, JSON.stringify(body))
    expect([response.status, await response.text()]).toEqual([204, ''])
  }
})

it.each([
  ['cut JSON', '{"jsonrpc":"2.0","id":1,"method":"test_echo"', failure(-32700, 'Parse error')],
  ['nothing', '', failure(-32700, 'Parse error')],
  ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), failure(-32700, 'Parse error')],
  ['an empty batch', '[]', failure(-32600, 'Invalid request')],
  ['a string', '"test_echo"', failure(-32600, 'Invalid request')],
  ['null', 'null', failure(-32600, 'Invalid request')],
  ['a batch of a batch', '[[]]', [failure(-32600, 'Invalid request')]],
  ['no version', '{"id":1,"method":"test_echo"}', failure(-32600, 'Invalid request', undefined, 1)],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"test_echo"}', failure(-32600, 'Invalid request')],
  ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":5}', failure(-32600, 'Invalid request', undefined, 1)],
  [
    'parameters by name',
    '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":{}}',
    failure(-32602, 'Invalid params', 'parameters are a list, by position', 1),
  ],
  ['a name every object has', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', failure(-32601, 'Method not found', undefined, 1)],
  ['100,000 levels', '['.repeat(100_000), failure(-32700, 'Parse error', expect.stringContaining('nested'))],
])('rpc/server/httpServer: answers a body of %s with an error, and continues', async (_what, body, expected) => {
  await using server = await serve()
  const response = await post(server, body)
  expect([response.status, await response.json()]).toEqual([200, expected])
  expect(await ask(server, request('test_echo', 1, 'still here'))).toMatchObject({ result: 'still here' })
})

it('rpc/server/httpServer: answers a batch of 100, and refuses one of 101', async () => {
  await using server = await serve()
  const batch = (length: number) => Array.from({ length }, (_each, id) => request('test_echo', id))
  expect(await ask(server, batch(100))).toHaveLength(100)
  expect(await ask(server, batch(101))).toEqual(failure(-32010, 'The batch request was too large', 'Exceeded max limit of 100'))
})

it('rpc/server/httpServer: reads a body of 15 MB, and refuses one byte more with an error that the client can read', async () => {
  await using server = await serve()
  const body = (length: number) => {
    const empty = JSON.stringify(request('test_echo', 1, ''))
    return JSON.stringify(request('test_echo', 1, 'x'.repeat(length - empty.length)))
  }
  const overhead = JSON.stringify(request('test_echo', 1, '')).length - JSON.stringify({ jsonrpc: '2.0', id: 1, result: '' }).length
  const whole = await post(server, body(15_000_000))
  expect([whole.status, (await whole.text()).length]).toEqual([200, 15_000_000 - overhead])
  const tooBig = await post(server, body(15_000_001))
  expect([tooBig.status, await tooBig.json()]).toEqual([413, failure(-32007, 'Request is too big', 'Exceeded max limit of 15000000')])
})

/** Sends bytes over a socket, then ends it. @returns the response */
function sendRaw(server: RpcServer, text: string, end: 'finish' | 'destroy'): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(text, () => (end === 'destroy' ? socket.destroy() : socket.end()))
    })
    socket.on('data', (chunk) => {
      received += chunk.toString()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
  })
}

it('rpc/server/httpServer: refuses a chunked body at the limit', async () => {
  await using server = await serve({ limits: { maxBodyBytes: 1_000 } })
  const chunk = `${(1_500).toString(16)}\r\n${'x'.repeat(1_500)}\r\n`
  const answer = await sendRaw(
    server,
    `POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
    'finish',
  )
  expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]*Request is too big/)
})

it('rpc/server/httpServer: bounds the memory of incomplete bodies of all requests (−32009)', async () => {
  await using server = await serve({ limits: { maxBodyBytes: 100_000, maxHeldBytes: 37_000 } })
  const call = JSON.stringify(request('test_echo', 1, 'x'.repeat(90_000)))
  const begun = Promise.withResolvers<void>()
  const busy = failure(-32009, 'Server is busy, try again later', { limit: 'bytes', max: 37_000 })
  const socket = connect(server.port, '127.0.0.1', () => {
    socket.write(
      `POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${call.length}\r\n\r\n${call.slice(0, 90_000)}`,
      () => begun.resolve(),
    )
  })
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  await begun.promise
  await vi.waitFor(async () => {
    const refused = await post(server, call)
    expect([refused.status, await refused.json()]).toEqual([503, busy])
  })
  socket.write(call.slice(90_000))
  await new Promise((resolve) => socket.on('close', resolve))
  expect(received).toContain('"result":"xxx')
  expect((await post(server, call)).status).toBe(200)
})

it('rpc/server/httpServer: survives clients that disconnect within a body or do not speak HTTP', async () => {
  await using server = await serve()
  await sendRaw(server, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"jsonrpc"', 'destroy')
  const call = JSON.stringify(request('test_big', 1))
  await sendRaw(server, `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${call.length}\r\n\r\n${call}`, 'destroy')
  await sendRaw(server, '\x00\x01\x02 what?\r\n\r\n', 'finish')
  expect(await ask(server, request('test_echo', 1, 'still here'))).toMatchObject({ result: 'still here' })
  expect(server.lines).toEqual([])
})

it('rpc/server/httpServer: answers an internal error with −32603, and writes its text to the log only', async () => {
  await using server = await serve()
  expect(await ask(server, request('test_broken', 1))).toEqual(failure(-32603, 'Internal error', undefined, 1))
  expect(server.lines.join()).toMatch(/rpc method failed.*test_broken|test_broken.*rpc method failed/)
  expect(server.lines.join()).toContain('a secret of the inside')
})

it('rpc/server/httpServer: answers a temporary outage with its fault code, without a log line per call', async () => {
  await using server = await serve()
  const error = { code: -32002, message: 'the execution half does not answer', data: { code: 'ENGINE_UNREACHABLE' } }
  expect(await ask(server, request('test_away', 1))).toEqual({ jsonrpc: '2.0', id: 1, error })
  expect(server.lines).toEqual([])
})

it('rpc/server/httpServer: answers with an error when a call exceeds the time-out of its class', async () => {
  const clock = createManualClock()
  await using server = await serve({}, clock)
  const answer = ask(server, request('test_never', 1))
  while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  await clock.advanceMs(10_000)
  expect(await answer).toEqual(failure(-32002, 'request timed out', { limit: 'time', ms: 10_000 }, 1))
})

it('rpc/server/httpServer: does not run a call that timed out while it waited', async () => {
  const clock = createManualClock()
  const ran: unknown[] = []
  const blocked = Promise.withResolvers<string>()
  const run = (_context: CallContext, value: unknown) => {
    ran.push(value)
    return value === 'waits' ? 'late' : blocked.promise
  }
  const methods = createRegistry<CallContext>([method({ ...common, name: 'test_slow', cost: 'range-read', run })])
  await using server = await serve({}, clock, methods)
  const answers = [...Array.from({ length: 8 }, (_each, index) => index), 'waits'].map((value) =>
    ask(server, request('test_slow', 1, value)),
  )
  while (clock.waiting < 9) await new Promise((resolve) => setImmediate(resolve))
  await clock.advanceMs(30_000)
  await Promise.all(answers)
  blocked.resolve('done')
  await new Promise((resolve) => setImmediate(resolve))
  expect(ran).toHaveLength(8)
  expect(ran).not.toContain('waits')
})

it('rpc/server/httpServer: cancels the running call of a client that disconnected, and does not start the rest of its batch', async () => {
  const ran: CallContext['cancellation'][] = []
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<string>()
  const run = ({ cancellation }: CallContext) => {
    ran.push(cancellation)
    begun.resolve()
    return goOn.promise
  }
  const methods = createRegistry<CallContext>([method({ ...common, name: 'test_slow', cost: 'range-read', run })])
  await using server = await serve({}, systemClock, methods)
  const batch = JSON.stringify([request('test_slow', 1), request('test_slow', 2)])
  const stop = new AbortController()
  const answer = fetch(server.url, { method: 'POST', body: batch, signal: stop.signal }).catch(() => 'gone')
  await begun.promise
  expect(ran[0]?.isCancelled).toBe(false)
  stop.abort()
  expect(await answer).toBe('gone')
  await vi.waitFor(() => expect(ran[0]?.isCancelled).toBe(true))
  goOn.resolve('done')
  await new Promise((resolve) => setImmediate(resolve))
  expect(ran).toHaveLength(1)
  expect(server.lines).toEqual([])
})

it('rpc/server/httpServer: ends the connection of a client that does not read its answer', async () => {
  const server = await serve({ limits: { stallTimeoutMs: 100 } }, createManualClock())
  const call = JSON.stringify(request('test_echo', 1, 'x'.repeat(14_000_000)))
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  const posted = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${call.length}\r\n\r\n${call}`
  await new Promise((resolve) => socket.write(posted, resolve))
  await server[Symbol.asyncDispose]() // with the stopped manual clock it would wait for the connection
  socket.destroy()
})

it('rpc/server/httpServer: replaces an answer that is too big by an error, alone and in a batch', async () => {
  await using server = await serve({ limits: { maxResponseBytes: 1_000 } })
  expect(await ask(server, request('test_big', 1))).toMatchObject({ id: 1 })
  const tooBig = failure(-32008, 'Response is too big', 'Exceeded max limit of 1000')
  expect(await ask(server, [request('test_big', 1), request('test_big', 2)])).toEqual(tooBig)
  expect(await ask(server, request('test_echo', 1, 'x'.repeat(1_000)))).toEqual({ ...tooBig, id: 1 })
})

it.each(['PUT', 'DELETE', 'OPTIONS', 'GET'])('rpc/server/httpServer: refuses %s for calls (405)', async (verb) => {
  await using server = await serve()
  const response = await fetch(server.url, { method: verb })
  expect([response.status, response.headers.get('allow'), response.headers.get('access-control-allow-origin')]).toEqual([405, 'POST', null])
})

it('rpc/server/httpServer: answers an unknown page with 404', async () => {
  await using server = await serve()
  expect((await fetch(`${server.url}/nosuch`)).status).toBe(404)
})

it('rpc/server/httpServer: /healthz answers while the process runs, /readyz gives the reasons why it is not ready', async () => {
  await using server = await serve()
  const page = async (path: string) => {
    const response = await fetch(`${server.url}${path}`)
    return [response.status, await response.json()]
  }
  expect(await page('/healthz')).toEqual([200, { version: 'v1' }])
  expect(await page('/readyz?verbose')).toEqual([503, { ready: false, problems: ['no L1 head yet'] }])
  expect(await page('/readyz')).toEqual([200, { ready: true }])
  const head = await fetch(`${server.url}/readyz`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(await sendRaw(server, 'GET /readyz HTTP/1.0\r\n\r\n', 'finish')).toMatch(/^HTTP\/1.1 200 OK[\s\S]*{"ready":true}$/) // as HAProxy asks
})

it('rpc/server/httpServer: refuses web pages with a foreign host name or a content type that needs no preflight', async () => {
  await using server = await serve()
  const call = JSON.stringify(request('test_echo', 1, 'x'))
  const named = `POST / HTTP/1.1\r\nhost: evil.example:8545\r\ncontent-length: ${call.length}\r\n\r\n${call}`
  expect(await sendRaw(server, named, 'finish')).toMatch(/^HTTP\/1.1 403 /)
  const fromPage = (type: string) => post(server, call, { origin: 'https://evil.example', 'content-type': type })
  for (const type of ['text/plain', 'text/plain; json', 'multipart/form-data; boundary=application/json', 'text/x+json']) {
    expect((await fromPage(type)).status).toBe(415)
  }
  for (const type of ['application/json', 'Application/JSON; charset=utf-8']) expect((await fromPage(type)).status).toBe(200)
  expect((await post(server, call, { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200)
  expect((await post(server, call, { 'content-type': 'application/json', 'content-encoding': 'gzip' })).status).toBe(415)
})

it('rpc/server/httpServer: names port and flag when the port is in use (PORT_IN_USE)', async () => {
  await using server = await serve()
  const message = `--rollup.port: port ${server.port} on 127.0.0.1 is in use`
  await expect(serve({ port: server.port, flag: 'rollup.port' })).rejects.toMatchObject({ code: 'PORT_IN_USE', severity: 'fatal', message })
})

it('rpc/server/httpServer: refuses to listen on an address of another machine (LISTEN_FAILED)', async () => {
  await expect(serve({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'LISTEN_FAILED', severity: 'fatal' })
})

it('rpc/server/httpServer: while closing, sends an answer that is ready in time', async () => {
  const ready = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const slow = method({
    ...common,
    name: 'test_slow',
    cost: 'execution',
    run: () => {
      begun.resolve()
      return ready.promise
    },
  })
  const server = await serve({}, systemClock, createRegistry<CallContext>([slow]))
  const answer = ask(server, request('test_slow', 1))
  await begun.promise
  const closed = server[Symbol.asyncDispose]()
  ready.resolve('done')
  expect(await answer).toMatchObject({ result: 'done' })
  await closed
})

it('rpc/server/httpServer: on close, waits a limited time for running calls and accepts no new connection', async () => {
  const clock = createManualClock()
  const server = await serve({}, clock)
  const answer = ask(server, request('test_never', 1))
  while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  const closed = server[Symbol.asyncDispose]()
  await expect(fetch(server.url)).rejects.toThrow()
  const cut = expect(answer).rejects.toThrow()
  await clock.advanceMs(5_000)
  await Promise.all([closed, cut])
})
