import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openSocket } from '#test/harness/process/socketClient'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { CallContext } from '../context.ts'
import { rpcMetrics } from '../metrics.ts'
import { createRegistry, methodsOf, type ParamCodec, param } from '../registry.ts'
import { createRpcServer } from '../server/httpServer.ts'
import { createWsServer } from '../server/wsServer.ts'
import { createGates, Gate } from './gates.ts'

/** Far larger than the kernel buffers of a client that does not read. */
const answerBytes = 8_000_000
const maxUnreadBytes = 1_000_000
const size: ParamCodec<number> = { doc: 'bytes', parse: Number }
const method = methodsOf<CallContext>()
const common = { doc: 'Test.', result: { doc: 'text', encode: (value: string) => value }, example: { params: [] } } as const
const run = (_context: CallContext, bytes: number): string => 'x'.repeat(bytes)
const registry = createRegistry<CallContext>([
  method({ ...common, name: 'test_block', cost: 'block-read', params: [param('bytes', size)], run }),
  method({ ...common, name: 'test_cheap', cost: 'instant', params: [param('bytes', size)], run }),
])
const call = (name: string, bytes: number) => ({ jsonrpc: '2.0', id: 1, method: `test_${name}`, params: [bytes] })

/** An HTTP and a WebSocket server that share their gates. */
async function serve() {
  const prometheus = new Registry()
  const gates = { ...createGates(), 'block-read': new Gate('block-read', { maxRunning: 4, maxWaiting: 4, maxUnreadBytes }) }
  const deps = { gates, log: silentLog, clock: systemClock, metrics: rpcMetrics.register(prometheus) }
  const at = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  const eth = fakeContext(fakeChain([[]]))
  const contextOf = (cancellation: CallContext['cancellation']) => ({ ...eth, cancellation })
  const http = await createRpcServer({ ...deps, registry, contextOf, pages: new Map() }, { ...at, maxSockets: 4 })
  const ws = await createWsServer({ ...deps, registry, contextOf, heads: scriptedFeed() }, at)
  const ask = async (name: string, bytes = 10) =>
    (await fetch(http.url, { method: 'POST', body: JSON.stringify(call(name, bytes)) })).json()
  return {
    ...{ http, ws, ask, prometheus },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([http, ws].map((server) => server[Symbol.asyncDispose]()))
    },
  }
}

const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000 })

/** A client that sends a call and does not read until `resume`. */
type Sleeper = { readonly wake: () => void; readonly leave: () => void }

async function overHttp(port: number, headers: string): Promise<Sleeper> {
  const body = JSON.stringify(call('block', answerBytes))
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`
  socket.write(`${head}\r\n\r\n${body}`)
  return { wake: () => socket.resume(), leave: () => socket.destroy() }
}

async function overSocket(url: string): Promise<Sleeper> {
  const { socket, send } = await openSocket(url)
  socket.pause()
  send(call('block', answerBytes))
  return { wake: () => socket.resume(), leave: () => socket.terminate() }
}

it.each<[string, (server: Awaited<ReturnType<typeof serve>>) => Promise<Sleeper>]>([
  ['the fast lane', ({ http }) => overHttp(http.port, '')],
  ['the slow lane', ({ http }) => overHttp(http.port, 'x-other: 1\r\n')],
  ['a WebSocket', ({ ws }) => overSocket(ws.url)],
  ['a WebSocket of the HTTP port', ({ http }) => overSocket(http.url.replace('http:', 'ws:'))],
])(
  'rpc/limits/gates: unread answers over %s block their cost class until they are read or the client disconnects',
  async (_where, open) => {
    await using server = await serve()
    const refusal = {
      code: -32009,
      message: 'Server is busy, try again later',
      data: { limit: 'bytes', class: 'block-read', max: maxUnreadBytes },
    }
    const sleeper = await open(server)
    await eventually(async () => expect(await server.ask('block')).toMatchObject({ error: refusal }))
    expect(await server.ask('cheap', answerBytes)).toHaveProperty('result')
    sleeper.wake()
    await eventually(async () => expect(await server.ask('block')).toHaveProperty('result'))
    sleeper.leave()
    const other = await open(server)
    await eventually(async () => expect(await server.ask('block')).toMatchObject({ error: refusal }))
    other.leave()
    await eventually(async () => expect(await server.ask('block')).toHaveProperty('result'))
    expect(await server.prometheus.metrics()).toMatch(/^basalt_rpc_limit_hits_total\{limit="bytes"\} [2-9]/m)
  },
)

it('rpc/limits/gates: earlier answers of a batch count in their cost classes', async () => {
  await using server = await serve()
  const body = JSON.stringify(['block', 'cheap', 'block', 'cheap'].map((name) => call(name, 1_200_000)))
  const answers = await (await fetch(server.http.url, { method: 'POST', body })).json()
  const result = { result: expect.any(String) }
  expect(answers).toMatchObject([result, result, { error: { data: { limit: 'bytes', class: 'block-read' } } }, result])
  expect(await server.ask('block')).toHaveProperty('result')
})
