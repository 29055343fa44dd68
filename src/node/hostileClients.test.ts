import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '#lib/clock'
import { signJwt } from '#lib/jwt'
import { silentLog } from '#lib/log'
import { rpcMetrics } from '#rpc/metrics'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { sampleOf } from '#test/harness/sample'
import { startServers } from './serving/servers.ts'

const jwtSecret = new Uint8Array(32).fill(0x5e)
const token = () => ({ authorization: `Bearer ${signJwt(jwtSecret, Math.floor(systemClock.nowMs() / 1_000))}` })

const folder = mkdtempSync(join(tmpdir(), 'basalt-hostile-'))
let started = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** All servers of a node, over a chain in memory. */
async function serveAll() {
  const { cancellation: _cancellation, ...context } = fakeContext(fakeChain([[], [[]]]))
  const engine = { api: {} as never, jwtSecret: () => jwtSecret, context }
  const eth = { context, heads: scriptedFeed(), engine }
  const parts = { rollup: {} as never, eth, metrics: rpcMetrics.register(new Registry()), metricsPages: new Map() }
  const health = new Map([['/healthz', () => ({ status: 200, body: {} })]])
  const at = { host: '127.0.0.1', port: 0 }
  const path = join(folder, `ipc-${started++}`)
  const listen = { http: at, ws: at, engine: at, rollup: at, metrics: at, ipc: { path } }
  const servers = await startServers({ log: silentLog, clock: systemClock, health, ...parts }, listen)
  const { http = '', ws = '', engine: engineUrl = '', rollup = '', metrics = '' } = servers.urls
  return Object.assign(servers, { http, ws, engine: engineUrl, rollup, metrics, path })
}

const chainId = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }

async function post(url: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  return await answer.json()
}

/** Sends all messages over one WebSocket. @returns the answers, in their order */
async function sendAll(url: string, messages: readonly string[], headers: Readonly<Record<string, string>> = {}): Promise<unknown[]> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  await once(socket, 'open')
  const answers: unknown[] = []
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)))
    socket.on('message', (data: Buffer) => {
      if (answers.push(JSON.parse(data.toString())) === messages.length) resolve()
    })
  })
  for (const message of messages) socket.send(message)
  await whole
  socket.removeAllListeners('close').terminate()
  return answers
}

/** Sends all values over the Unix socket. */
async function writeAll(path: string, values: readonly string[]): Promise<unknown[]> {
  const socket = connect(path)
  for (const value of values) socket.write(value)
  let text = ''
  for await (const piece of socket) {
    text += String(piece)
    if (text.split('\n').length > values.length) break
  }
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

it.each<[string, (servers: Awaited<ReturnType<typeof serveAll>>, bodies: readonly string[]) => Promise<unknown[]>]>([
  ['HTTP', ({ http }, bodies) => Promise.all(bodies.map((body) => post(http, body)))],
  ['WebSocket', ({ ws }, bodies) => sendAll(ws, bodies)],
  ['the Unix socket', ({ path }, bodies) => writeAll(path, bodies)],
  ['the engine port', ({ engine }, bodies) => Promise.all(bodies.map((body) => post(engine, body, token())))],
  ['the engine port over WebSocket', ({ engine }, bodies) => sendAll(engine.replace('http', 'ws'), bodies, token())],
  ['the rollup port', ({ rollup }, bodies) => Promise.all(bodies.map((body) => post(rollup, body)))],
])('node/hostileClients: refuses deeply nested bodies of 15 MB over %s, and continues to serve', async (_door, send) => {
  await using servers = await serveAll()
  const bodies = new Array<string>(sampleOf(3, 10)).fill(nested(7_490_000))
  const data = 'nested deeper than 128 levels, or more than 1000000 values'
  const refused = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error', data } }
  expect(await send(servers, bodies)).toEqual(bodies.map(() => refused))
  expect(await send(servers, [nested(20_000)])).toEqual([refused])
  expect(await post(servers.http, JSON.stringify(chainId))).toMatchObject({ result: '0x2105' })
})

/** Connections opened at once. Beyond the server's backlog of 511 the system retries after a second. */
const waveSize = 200

/** Connections that each send some bytes and then nothing. */
async function idle(port: number | string, count: number, text: string): Promise<Disposable> {
  const target = typeof port === 'string' ? { path: port } : { port, host: '127.0.0.1' }
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const wave = Array.from({ length: Math.min(waveSize, count - sockets.length) }, () => connect(target).on('error', () => {}))
    await Promise.all(wave.map((socket) => once(socket, 'connect')))
    sockets.push(...wave)
    // the server accepts one connection per turn of the event loop
    for (const _socket of wave) await new Promise((resolve) => setImmediate(resolve))
  }
  if (text !== '') for (const socket of sockets) socket.write(text)
  await new Promise((resolve) => setTimeout(resolve, 200))
  return { [Symbol.dispose]: () => sockets.forEach((socket) => void socket.destroy()) }
}

const halfHead = 'POST / HTTP/1.1\r\nhost: localhost\r\n'
const halfBody = `${halfHead}content-type: application/json\r\ncontent-length: 60000\r\n\r\n{`
const halfLargeBody = `${halfHead}content-type: application/json\r\ncontent-length: 15000000\r\n\r\n${'['.repeat(400_000)}`
const halfUpgrade = 'GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n'
const call = JSON.stringify(chainId)
const portOf = (url: string): number => Number(new URL(url).port)
type All = Awaited<ReturnType<typeof serveAll>>

const answer = { result: '0x2105' }

it.each<[string, number, string, (servers: All) => number | string, (servers: All) => Promise<unknown>, unknown]>([
  ['HTTP', 600, '', ({ http }) => portOf(http), ({ http }) => post(http, call), answer],
  ['HTTP, with half a head', 600, halfHead, ({ http }) => portOf(http), ({ http }) => post(http, call), answer],
  ['HTTP, with half a body', 600, halfBody, ({ http }) => portOf(http), ({ http }) => post(http, call), answer],
  ['HTTP, with half a large body', 450, halfLargeBody, ({ http }) => portOf(http), ({ http }) => post(http, call), answer],
  ['the engine port', 100, '', ({ engine }) => portOf(engine), ({ engine }) => post(engine, call, token()), answer],
  ['the engine port, with half a head', 100, halfHead, ({ engine }) => portOf(engine), ({ engine }) => post(engine, call, token()), answer],
  ['the rollup port', 600, halfHead, ({ rollup }) => portOf(rollup), ({ rollup }) => post(rollup, '{}'), { error: { code: -32600 } }],
  ['the port of /metrics', 600, halfHead, ({ metrics }) => portOf(metrics), ({ metrics }) => fetch(`${metrics}/healthz`), { status: 200 }],
  ['WebSocket', 1_000, halfUpgrade, ({ ws }) => portOf(ws), ({ ws }) => sendAll(ws, [call]), [answer]],
  ['the Unix socket', 100, '{', ({ path }) => path, ({ path }) => writeAll(path, [call]), [answer]],
])('node/hostileClients: serves a new client while many connections to %s are idle', async (_door, count, text, port, ask, expected) => {
  await using servers = await serveAll()
  using _attack = await idle(port(servers), count, text)
  const startMs = performance.now()
  expect(await ask(servers)).toMatchObject(expected as object)
  expect(performance.now() - startMs).toBeLessThan(5_000)
})

it('node/hostileClients: keeps connections of a consensus half when others come without a token', async () => {
  await using servers = await serveAll()
  const half = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  const ask = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', ...token() }
      const asked = request(servers.engine, { method: 'POST', agent: half, headers }, (answer) => {
        ports.add(answer.socket.localPort)
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      asked.on('error', reject).end(call)
    })
  expect(await ask()).toBe(200)
  for (let wave = 0; wave < 3; wave++) {
    using _attack = await idle(portOf(servers.engine), 60, '')
    expect(await ask()).toBe(200)
  }
  expect(ports.size).toBe(1)
  half.destroy()
})
