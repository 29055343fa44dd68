import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { openSocket } from '#test/harness/process/socketClient'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { CallContext, SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import { createRegistry, methodsOf } from '../registry.ts'
import { createRpcServer } from '../server/httpServer.ts'
import { createWsServer } from '../server/wsServer.ts'
import { createRateLimiter, type RateLimitOptions } from './rateLimit.ts'
import { createRateTable, RateTable } from './rateTable.ts'

const rate = { unitsPerSec: 10, burstUnits: 20 }
const options = (more: Partial<RateLimitOptions> = {}): RateLimitOptions => ({
  ...{ table: createRateTable(64), rate, keys: [], trustedProxies: [] },
  ...more,
})

it('rpc/limits/rateTable: grants the burst, then the rate per second, and reports when enough units are available', async () => {
  const clock = createManualClock()
  const bucket = new RateTable(createRateTable(64), () => clock.nowMs()).bucket('a', rate)
  expect(bucket.take(15)).toBeUndefined()
  expect(bucket.take(10)).toEqual({ limit: 10, remaining: 5, retryAfterMs: 500 })
  await clock.advanceMs(499)
  expect(bucket.take(10)).toMatchObject({ retryAfterMs: 1 })
  await clock.advanceMs(1)
  expect(bucket.take(10)).toBeUndefined()
  expect(bucket.take(1)).toMatchObject({ remaining: 0, retryAfterMs: 100 })
  await clock.advanceMs(3_600_000)
  expect([bucket.take(1_000), bucket.take(1)]).toMatchObject([undefined, { retryAfterMs: 100 }]) // a cost above the capacity takes all
})

it('rpc/limits/rateTable: threads share a bucket; a wall clock that is set back locks no client out', () => {
  const clock = createManualClock()
  const table = createRateTable(64)
  const [here, there] = [1, 2].map(() => new RateTable(table, () => clock.nowMs()).bucket('a', rate))
  expect([here?.take(15), there?.take(5)]).toEqual([undefined, undefined])
  expect(here?.take(1)).toEqual({ limit: 10, remaining: 0, retryAfterMs: 100 })
  clock.jumpMs(-3_600_000)
  expect([here?.take(20), there?.take(1)]).toMatchObject([undefined, { remaining: 0 }])
})

it('rpc/limits/rateTable: replaces the fullest bucket when there are too many clients', () => {
  const clock = createManualClock()
  const table = new RateTable(createRateTable(8), () => clock.nowMs())
  const greedy = table.bucket('greedy', rate)
  expect(greedy.take(20)).toBeUndefined()
  for (let each = 0; each < 1_000; each++) expect(table.bucket(`client ${each}`, rate).take(1)).toBeUndefined()
  expect(greedy.take(1)).toEqual({ limit: 10, remaining: 0, retryAfterMs: 100 })
})

it('rpc/limits/rateLimit: identifies a client by address, over IPv6 by network, behind a trusted proxy by X-Forwarded-For', () => {
  const limiter = createRateLimiter(createManualClock(), options({ trustedProxies: ['10.0.0.0/8', 'fd00::/8'] }))
  const isSame = (one: Parameters<typeof limiter.bucketOf>[0], other: typeof one): boolean => {
    const alike = createRateLimiter(createManualClock(), options({ trustedProxies: ['10.0.0.0/8', 'fd00::/8'] }))
    alike.bucketOf(one).take(20)
    return alike.bucketOf(other).take(1) !== undefined
  }
  expect(limiter.bucketOf({ address: '192.0.2.1' }).take(1)).toBeUndefined()
  expect(isSame({ address: '192.0.2.1' }, { address: '::ffff:192.0.2.1' })).toBe(true)
  expect(isSame({ address: '192.0.2.1' }, { address: '192.0.2.2' })).toBe(false)
  expect(isSame({ address: '2001:db8:1:2::1' }, { address: '2001:db8:1:2:ffff::' })).toBe(true)
  expect(isSame({ address: '2001:db8:1:2::1' }, { address: '2001:db8:1:3::1' })).toBe(false)
  const behind = (address: string, forwardedFor: string) => ({ address, forwardedFor })
  expect(isSame(behind('10.1.1.1', '192.0.2.1'), { address: '192.0.2.1' })).toBe(true)
  expect(isSame(behind('10.1.1.1', '6.6.6.6, 192.0.2.1, fd00::1'), { address: '192.0.2.1' })).toBe(true)
  expect(isSame(behind('192.0.2.1', '6.6.6.6'), { address: '192.0.2.1' })).toBe(true)
  expect(isSame(behind('10.1.1.1', 'nonsense'), { address: '10.1.1.1' })).toBe(true)
})

it('rpc/limits/rateLimit: a key in header or path has its own bucket; an unknown key counts as none', () => {
  const key = { key: 'alice-1', unitsPerSec: 100, burstUnits: 200 }
  const limiter = createRateLimiter(createManualClock(), options({ keys: [key] }))
  const [address, target] = ['192.0.2.1', '/alice-1']
  expect(limiter.bucketOf({ address, apiKey: 'alice-1' }).take(150)).toBeUndefined()
  expect(limiter.bucketOf({ address: '192.0.2.9', target }).take(100)).toMatchObject({ limit: 100, remaining: 50 })
  expect(limiter.bucketOf({ address, apiKey: 'bob', target: '/rpc' }).take(20)).toBeUndefined()
  expect(limiter.bucketOf({ address }).take(1)).toMatchObject({ limit: 10 })
})

it('rpc/limits/rateLimit: added and removed keys take effect at once, on open connections too', () => {
  const key = { key: 'alice-1', unitsPerSec: 100, burstUnits: 200 }
  const limiter = createRateLimiter(createManualClock(), options())
  const alice = limiter.bucketOf({ address: '192.0.2.1', apiKey: 'alice-1' })
  expect([alice.take(20), alice.take(1)]).toMatchObject([undefined, { limit: 10 }])
  limiter.setKeys([key])
  expect([alice.take(150), alice.take(100)]).toMatchObject([undefined, { limit: 100, remaining: 50 }])
  limiter.setKeys([{ ...key, unitsPerSec: 1_000, burstUnits: 2_000 }])
  expect([alice.take(500), alice.take(1)]).toMatchObject([undefined, { limit: 1_000 }]) // drawn units stay drawn
  limiter.setKeys([])
  expect(alice.take(1)).toMatchObject({ limit: 10 })
})

async function serve() {
  const clock = createManualClock()
  const common = { doc: 'Test.', params: [], result: { doc: 'one', encode: (value: number) => value }, example: { params: [] } }
  const method = methodsOf<CallContext>()
  const registry = createRegistry<CallContext>([
    method({ ...common, name: 'test_cheap', cost: 'instant', run: () => 1 }),
    method({ ...common, name: 'test_dear', cost: 'execution', run: () => 2 }),
  ])
  const deps = {
    registry,
    contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }),
    pages: new Map(),
    log: silentLog,
    clock,
  }
  const server = await createRpcServer(
    { ...deps, limiter: createRateLimiter(clock, options()) },
    { host: '127.0.0.1', port: 0, flag: 'http.port' },
  )
  const post = (body: unknown, headers = {}) => fetch(server.url, { method: 'POST', body: JSON.stringify(body), headers })
  return Object.assign(server, { clock, post })
}
const call = (name: string, id: number) => ({ jsonrpc: '2.0', id, method: `test_${name}`, params: [] })

it.each([{}, { 'x-other': '1' }])(
  'rpc/limits/rateLimit: answers 429 with Retry-After and the remaining units over the limit (%o)',
  async (headers) => {
    await using server = await serve()
    expect((await server.post(call('dear', 1), headers)).status).toBe(200)
    const refused = await server.post(call('cheap', 2), headers)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    const error = { code: -32016, message: 'over rate limit', data: { limit: 10, remaining: 0, retryAfterMs: 100 } }
    expect(await refused.json()).toEqual({ jsonrpc: '2.0', id: 2, error })
    await server.clock.advanceMs(100)
    expect((await server.post(call('cheap', 3), headers)).status).toBe(200)
  },
)

it('rpc/limits/rateLimit: charges each call of a batch, and answers 429 when all are refused', async () => {
  await using server = await serve()
  const some = await server.post([call('cheap', 1), call('dear', 2), { id: 3 }])
  expect(some.status).toBe(200)
  expect(await some.json()).toMatchObject([{ result: 1 }, { id: 2, error: { code: -32016 } }, { id: 3, error: { code: -32600 } }])
  const none = await server.post([call('dear', 1), call('dear', 2)])
  expect([none.status, none.headers.get('retry-after')]).toEqual([429, '1'])
})

it('rpc/limits/rateLimit: charges notifications; closes the connection of a subscriber over its limit with a reason, and keeps others', async () => {
  const prometheus = new Registry()
  const clock = createManualClock()
  const chain = fakeChain([[], [[]]])
  const heads = scriptedFeed()
  const eth = fakeContext(chain)
  await using server = await createWsServer<SocketContext>(
    {
      registry: socketRegistry,
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      limiter: createRateLimiter(clock, options()),
      ...{ heads, log: silentLog, clock, metrics: rpcMetrics.register(prometheus) },
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port' },
  )
  await using other = await openSocket(server.url)
  await using subscriber = await openSocket(server.url)
  await subscriber.call('eth_subscribe', 'newHeads')
  await clock.advanceMs(2_000) // a full bucket
  for (let each = 0; each < 21; each++) heads.tell(chain.blocks[1] ?? expect.fail())
  expect(await subscriber.closed).toEqual({ code: 1008, reason: 'over rate limit' })
  expect(subscriber.waiting).toHaveLength(20)
  expect(await other.call('eth_chainId')).toMatchObject({ error: { code: -32016 } })
  expect(await prometheus.metrics()).toMatch(/^basalt_rpc_socket_ends_total\{why="rate"\} 1$/m)
})

it('rpc/limits/rateLimit: over WebSocket, answers with the refusal, counts it, and keeps the connection', async () => {
  const prometheus = new Registry()
  const clock = createManualClock()
  const chain = fakeChain([[], [[]]])
  const eth = fakeContext(chain)
  await using server = await createWsServer<SocketContext>(
    {
      registry: socketRegistry,
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      limiter: createRateLimiter(clock, options()),
      ...{ heads: scriptedFeed(), log: silentLog, clock, metrics: rpcMetrics.register(prometheus) },
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port' },
  )
  await using client = await openSocket(server.url)
  await using other = await openSocket(server.url)
  for (let each = 0; each < 20; each++) expect(await client.call('eth_chainId')).toHaveProperty('result')
  for (const { call: ask } of [client, other]) expect(await ask('eth_chainId')).toMatchObject({ error: { code: -32016 } })
  await clock.advanceMs(100)
  expect(await client.call('eth_chainId')).toHaveProperty('result')
  expect(await prometheus.metrics()).toContain('basalt_rpc_limit_hits_total{limit="rate"} 2')
})
