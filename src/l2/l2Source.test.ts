import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { SocketContext } from '#rpc/context'
import { ethRegistry, socketRegistry } from '#rpc/methods'
import { rpcMetrics } from '#rpc/metrics'
import { createRpcServer, type RpcServer } from '#rpc/server/httpServer'
import { createWsServer } from '#rpc/server/wsServer'
import { createManualClock } from '#test/harness/clock'
import { followConfig } from '#test/harness/consensus/follow'
import { account, type FakeBlock, type FakeChain, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { type ScriptedFeed, scriptedFeed } from '#test/harness/rpc/headFeed'
import { createL2Source, defaultL2SourceOptions, type L2SourceOptions, type SourceNode } from './l2Source.ts'
import { l2Metrics } from './metrics.ts'
import { createProofsStatus } from './proofsStatus.ts'
import { parseSourceUrl } from './sourceUrl.ts'

const { signal } = new AbortController()
const log = { address: account(1), topics: [topic(1)], data: new Uint8Array(0) }
const empty = (count: number): FakeBlock[] => Array.from({ length: count }, () => [])

type Node = AsyncDisposable & { readonly chain: FakeChain; readonly feed: ScriptedFeed; readonly http: RpcServer; readonly ws: RpcServer }

/** Node with our own RPC server over a chain of empty blocks, because the fake's transactions have no root. */
async function serveNode(blocks: number, wsPort = 0): Promise<Node> {
  const chain = fakeChain(empty(blocks))
  const feed = scriptedFeed()
  const eth = fakeContext(chain)
  const listen = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  const common = { log: silentLog, clock: systemClock }
  const http = await createRpcServer(
    { ...common, registry: ethRegistry, pages: new Map(), contextOf: (ticket) => ({ ...eth, ticket }) },
    listen,
  )
  const ws = await createWsServer<SocketContext>(
    {
      ...common,
      registry: socketRegistry,
      heads: feed,
      contextOf: (ticket, subscriptions) => ({ ...eth, ticket, subscriptions }),
      metrics: rpcMetrics.register(new Registry()),
    },
    { ...listen, port: wsPort },
  )
  return {
    ...{ chain, feed, http, ws },
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
      await ws[Symbol.asyncDispose]()
    },
  }
}

const configOf = (chain: FakeChain): RollupConfig => ({
  ...followConfig,
  l2ChainId: 8453,
  genesis: { ...followConfig.genesis, l2: { number: 0, hash: chain.blocks[0]?.hash ?? expect.fail() } },
})

function source(
  url: string,
  config: RollupConfig,
  options: Partial<L2SourceOptions> = {},
  clock: Clock = systemClock,
  ask: typeof fetch = fetch,
): SourceNode & { registry: Registry } {
  const registry = new Registry()
  const deps = { fetch: ask, clock, random: () => 0, log: silentLog, metrics: l2Metrics.register(registry) }
  return Object.assign(createL2Source(deps, { ...defaultL2SourceOptions(config, 0), url, config, ...options }), { registry })
}

/** Server of scripted answers, by method. */
function scriptedFetch(
  answer: (call: { method: string; params: unknown[]; id: number }) => unknown,
  requests: unknown[] = [],
): typeof fetch {
  return async (_url, init) => {
    const body: unknown = JSON.parse(String(init?.body))
    requests.push(body)
    const answerTo = (call: unknown): unknown => {
      const given = answer(call as never)
      if (given instanceof Response) throw given
      return { jsonrpc: '2.0', id: (call as { id: number }).id, ...(given as object) }
    }
    try {
      return Response.json(Array.isArray(body) ? body.map(answerTo).reverse() : answerTo(body))
    } catch (error) {
      if (error instanceof Response) return error
      throw error
    }
  }
}

it('l2/l2Source: returns heads by label and a linked, verified range of blocks of our own RPC server', async () => {
  await using node = await serveNode(100)
  using followed = source(node.http.url, configOf(node.chain))
  expect(await followed.head('latest', signal)).toEqual({ number: 99, hash: node.chain.blocks[99]?.hash })
  expect(await followed.head('finalized', signal)).toEqual({ number: 0, hash: node.chain.blocks[0]?.hash })
  const payloads = await followed.payloads(1, 70, signal)
  expect(payloads.map(({ blockHash }) => blockHash)).toEqual(node.chain.blocks.slice(1, 71).map(({ hash }) => hash))
  expect(await followed.payloads(90, 64, signal)).toHaveLength(10)
  expect(await followed.payloads(100, 1, signal)).toEqual([])
  const hash = node.chain.blocks[5]?.hash ?? expect.fail()
  expect((await followed.payload(hash, signal))?.blockNumber).toBe(5)
  expect(await followed.payload(`0x${'12'.repeat(32)}` as typeof hash, signal)).toBeUndefined()
  expect(followed.transport).toBe('poll')
})

it('l2/l2Source: refuses a node of another chain at the first request (SOURCE_WRONG_CHAIN)', async () => {
  await using node = await serveNode(3)
  const config = configOf(node.chain)
  using otherId = source(node.http.url, { ...config, l2ChainId: 10 })
  await expect(otherId.head('latest', signal)).rejects.toMatchObject({
    code: 'SOURCE_WRONG_CHAIN',
    severity: 'fatal',
    data: { what: 'chain id' },
  })
  using otherGenesis = source(node.http.url, { ...config, genesis: followConfig.genesis })
  await expect(otherGenesis.payloads(1, 1, signal)).rejects.toMatchObject({ code: 'SOURCE_WRONG_CHAIN', data: { what: 'genesis block' } })
})

it('l2/l2Source: a head from the WebSocket ends the wait, also one received before the wait', async () => {
  await using node = await serveNode(3)
  using followed = source(`${node.http.url},${node.ws.url}`, configOf(node.chain), { pollMs: 60_000 })
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
  await followed.waitForHead(signal) // returns for the change of the transport
  const waited = followed.waitForHead(signal)
  const block = node.chain.blocks[2] ?? expect.fail()
  node.feed.tell(block)
  await waited
  node.feed.tell(block)
  await vi.waitFor(async () => expect(await followed.registry.metrics()).toMatch('basalt_l2_source_heads_total 2'))
  await followed.waitForHead(signal)
  const stop = new AbortController()
  const never = followed.waitForHead(stop.signal)
  stop.abort(new Error('stopped'))
  await expect(never).rejects.toThrow('stopped')
})

it('l2/l2Source: reads heads and blocks over a WebSocket URL alone, and again after the node restarted', async () => {
  const first = await serveNode(100)
  const { port, url } = first.ws
  const config = configOf(first.chain)
  using followed = source(url, config)
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
  expect(await followed.head('latest', signal)).toMatchObject({ number: 99 })
  const payloads = await followed.payloads(1, 70, signal)
  expect(payloads.map(({ blockHash }) => blockHash)).toEqual(first.chain.blocks.slice(1, 71).map(({ hash }) => hash))
  await first[Symbol.asyncDispose]()
  await expect(followed.head('latest', signal)).rejects.toMatchObject({ code: 'SOURCE_UNREACHABLE', severity: 'retry' })
  await using _again = await serveNode(100, port)
  expect(await followed.head('latest', signal)).toMatchObject({ number: 99 })
  const stop = new AbortController()
  const stopped = followed.payloads(1, 50, stop.signal)
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
})

it('l2/l2Source: polls while a WebSocket is silent, then subscribes again', async () => {
  await using node = await serveNode(3)
  const clock = createManualClock()
  using followed = source(`${node.http.url},${node.ws.url}`, configOf(node.chain), { pollMs: 500, idleMs: 10_000 }, clock)
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
  await clock.advanceMs(10_000)
  expect(followed.transport).toBe('poll')
  await followed.waitForHead(signal)
  const polled = followed.waitForHead(signal)
  await clock.advanceMs(500)
  await polled
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
})

it('l2/l2Source: polls after half the time of a block that is due, also after Denim began, and at least every 500 ms', async () => {
  await using node = await serveNode(3)
  const config = configOf(node.chain)
  const denim = config.genesis.l2TimeSec + 10 * config.blockTimeSec
  const clock = createManualClock((denim - 1) * 1_000)
  using followed = source(node.http.url, { ...config, schedule: { ...config.schedule, denim } }, {}, clock)
  const pollMs = async (): Promise<number> => {
    let isDone = false
    void followed.waitForHead(signal).then(() => {
      isDone = true
    })
    const startMs = clock.nowMs()
    while (!isDone) await clock.advanceMs(10)
    return clock.nowMs() - startMs
  }
  expect(await pollMs()).toBe(500)
  await clock.advanceMs(1_000)
  expect(await pollMs()).toBe(100)
})

it('l2/l2Source: a wait for a head ends at its time limit while the WebSocket is silent', async () => {
  await using node = await serveNode(3)
  const clock = createManualClock()
  using followed = source(`${node.http.url},${node.ws.url}`, configOf(node.chain), { idleMs: 60_000 }, clock)
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
  await followed.waitForHead(signal) // returns for the change of the transport
  const waited = followed.waitForHead(signal, 2_000)
  await clock.advanceMs(2_000)
  await waited
  expect(followed.transport).toBe('websocket')
})

it('l2/l2Source: polls after a WebSocket closed, then subscribes again', async () => {
  const clock = createManualClock()
  const first = await serveNode(3)
  const { port } = first.ws
  using followed = source(`http://127.0.0.1:1,${first.ws.url}`, configOf(first.chain), { idleMs: 10_000_000 }, clock)
  await vi.waitFor(() => expect(followed.transport).toBe('websocket'))
  await first[Symbol.asyncDispose]()
  await vi.waitFor(() => expect(followed.transport).toBe('poll'))
  await using _again = await serveNode(3, port)
  await vi.waitFor(async () => {
    await clock.advanceMs(500)
    expect(followed.transport).toBe('websocket')
  })
})

it.each([
  ['another hash', (block: Record<string, unknown>) => ({ ...block, hash: `0x${'ab'.repeat(32)}` })],
  ['another gas used', (block: Record<string, unknown>) => ({ ...block, gasUsed: '0x1' })],
  ['another number', (block: Record<string, unknown>) => ({ ...block, number: '0x7' })],
  ['no transactions', ({ transactions: _, ...block }: Record<string, unknown>) => block],
  ['a malformed transaction', (block: Record<string, unknown>) => ({ ...block, transactions: [{}] })],
  ['a list', () => []],
])('l2/l2Source: never returns a block with %s (SOURCE_BAD_BLOCK)', async (_what, spoil) => {
  await using node = await serveNode(10)
  const ask: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    const body: unknown = await response.json()
    const spoilt = (answer: unknown): unknown => {
      const { result } = answer as { result: { number?: string } | null }
      return result?.number === '0x5' ? { ...(answer as object), result: spoil(result as Record<string, unknown>) } : answer
    }
    return Response.json(Array.isArray(body) ? body.map(spoilt) : spoilt(body))
  }
  using followed = source(node.http.url, configOf(node.chain), {}, systemClock, ask)
  await expect(followed.payloads(1, 9, signal)).rejects.toMatchObject({ code: 'SOURCE_BAD_BLOCK', severity: 'retry' })
  expect(await followed.payloads(1, 4, signal)).toHaveLength(4)
})

it('l2/l2Source: a range ends where a reorg replaced the chain', async () => {
  await using node = await serveNode(64)
  const config = configOf(node.chain)
  let requests = 0
  const ask: typeof fetch = async (url, init) => {
    if (++requests === 3)
      node.chain.reorganise(
        20,
        [[[log]], ...empty(50)].map((each) => (each.length > 0 ? [] : each)),
      )
    return await fetch(url, init)
  }
  using followed = source(node.http.url, config, {}, systemClock, ask)
  const payloads = await followed.payloads(1, 60, signal)
  expect(payloads.length).toBeGreaterThanOrEqual(19)
  for (const [at, { parentHash }] of payloads.entries()) if (at > 0) expect(parentHash).toBe(payloads[at - 1]?.blockHash)
})

it('l2/l2Source: requests fewer blocks after a batch failed, and single calls after batches were refused', async () => {
  await using node = await serveNode(40)
  const config = configOf(node.chain)
  using small = source(node.http.url, config, { maxBodyBytes: 12_000 })
  expect(await small.payloads(1, 39, signal)).toHaveLength(39)
  const ask: typeof fetch = async (url, init) =>
    String(init?.body).startsWith('[')
      ? Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } })
      : await fetch(url, init)
  using single = source(node.http.url, config, {}, systemClock, ask)
  expect(await single.payloads(1, 5, signal)).toHaveLength(5)
  using tiny = source(node.http.url, config, { maxBodyBytes: 700 })
  await expect(tiny.payloads(1, 5, signal)).rejects.toMatchObject({ code: 'SOURCE_BAD_ANSWER' })
})

it('l2/l2Source: requests fewer blocks from an endpoint with a bound on the calls of a batch, and not one by one', async () => {
  await using node = await serveNode(40)
  const sizes: number[] = []
  const ask: typeof fetch = async (url, init) => {
    const body = JSON.parse(String(init?.body)) as unknown
    const size = Array.isArray(body) ? body.length : 1
    sizes.push(size)
    return size > 8
      ? Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } })
      : await fetch(url, init)
  }
  using followed = source(node.http.url, configOf(node.chain), {}, systemClock, ask)
  expect(await followed.payloads(1, 39, signal)).toHaveLength(39)
  expect(sizes.length).toBeLessThan(20)
})

it('l2/l2Source: an endpoint of which every third request fails still answers all blocks, some at a time, and batches again', async () => {
  await using node = await serveNode(40)
  let [requests, batches] = [0, 0]
  const ask: typeof fetch = async (url, init) => {
    if (String(init?.body).startsWith('[')) batches++
    return ++requests % 3 === 0 ? new Response('', { status: 500 }) : await fetch(url, init)
  }
  using followed = source(node.http.url, configOf(node.chain), {}, systemClock, ask)
  const numbers: number[] = []
  for (let calls = 0; numbers.length < 39; calls++) {
    expect(calls).toBeLessThan(39)
    const payloads = await followed.payloads(numbers.length + 1, 39 - numbers.length, signal).catch(() => [])
    numbers.push(...payloads.map(({ blockNumber }) => blockNumber))
  }
  expect(numbers).toEqual(Array.from({ length: 39 }, (_, at) => at + 1))
  expect(batches).toBeGreaterThan(2)
})

it.each([
  [
    '429 with Retry-After',
    () => new Response('', { status: 429, headers: { 'retry-after': '7' } }),
    { code: 'SOURCE_RATE_LIMITED', data: { retryAfterMs: 7_000 } },
  ],
  ['a limit as an error', () => ({ error: { code: -32016, message: 'over rate limit' } }), { code: 'SOURCE_RATE_LIMITED' }],
  ['401', () => new Response('', { status: 401 }), { code: 'SOURCE_REFUSED' }],
  ['503', () => new Response('', { status: 503 }), { code: 'SOURCE_UNREACHABLE' }],
  ['an error', () => ({ error: { code: -32000, message: 'GEHEIM dXNlcjpnZWhlaW0= is broken' } }), { code: 'SOURCE_RPC_ERROR' }],
  ['a page', () => new Response('<html>'), { code: 'SOURCE_BAD_ANSWER' }],
  ['nothing', () => ({}), { code: 'SOURCE_BAD_ANSWER' }],
])('l2/l2Source: %s is a fault to retry', async (_what, answer, fault) => {
  using followed = source('http://user:geheim@127.0.0.1:9/key', followConfig, {}, systemClock, scriptedFetch(answer))
  const failed = await followed.head('latest', signal).then(
    () => expect.fail(),
    (error: Error) => error,
  )
  expect(failed).toMatchObject({ ...fault, severity: 'retry' })
  expect(failed.message).not.toMatch(/geheim|key/i)
  expect(JSON.stringify([failed, failed.message])).not.toMatch(/geheim|dXNlcjpnZWhlaW0/i)
})

it('l2/l2Source: a label without a block is undefined, and concurrent requests are bounded', async () => {
  const config = { ...followConfig, l2ChainId: 8453 }
  const labels = scriptedFetch(({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x2105' }
    return params[0] === 'safe' ? { error: { code: -39001, message: 'Unknown block' } } : { result: null }
  })
  using followed = source('http://127.0.0.1:9', config, {}, systemClock, labels)
  expect(await followed.head('safe', signal)).toBeUndefined()
  expect(await followed.head('finalized', signal)).toBeUndefined()
  let [running, most] = [0, 0]
  const counted: typeof fetch = async (url, init) => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    return await labels(url, init)
  }
  using busy = source('http://127.0.0.1:9', config, { maxConcurrent: 2 }, systemClock, counted)
  await Promise.all(Array.from({ length: 10 }, () => busy.head('finalized', signal)))
  expect(most).toBe(2)
})

it('l2/l2Source: a call without an answer ends at its time-out or with the signal', async () => {
  const never: typeof fetch = (_url, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  const clock = createManualClock()
  using followed = source('http://127.0.0.1:9', followConfig, { timeoutMs: 1_000 }, clock, never)
  const late = followed.head('latest', signal).catch((error: unknown) => error)
  await clock.advanceMs(1_000)
  expect(await late).toMatchObject({ code: 'SOURCE_UNREACHABLE', data: { reason: 'no answer within 1 s' } })
  const stop = new AbortController()
  const stopped = followed.payloads(1, 1, stop.signal)
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
})

it.each([
  ['ws://127.0.0.1:8546,http://a', 'the HTTP URL must be the first of two URLs'],
  ['nonsense', 'an http or https URL expected'],
  ['http://a,http://b', 'a ws or wss URL after the comma expected'],
  ['http://a,ws://b,ws://c', 'at most two URLs'],
])('l2/sourceUrl: refuses %s without showing the URL (SOURCE_URL_INVALID)', (text, says) => {
  expect(() => parseSourceUrl(text)).toThrow(says)
})

it.each([
  ['a number', { result: { earliest: 1, latest: 512 } }, { latest: 512 }],
  ['no proofs yet', { result: { earliest: null, latest: null } }, { latest: undefined }],
])('l2/proofsStatus: returns %s', async (_what, answer, status) => {
  const endpoint = { url: 'http://127.0.0.1:9', headers: () => ({ authorization: 'Bearer x' }), timeoutMs: 1_000 }
  expect(await createProofsStatus({ fetch: scriptedFetch(() => answer), clock: systemClock }, endpoint)(signal)).toEqual(status)
})

it.each([
  ['an unknown method', () => ({ error: { code: -32601, message: 'not found' } }), { code: 'PROOFS_NOT_RECORDED', severity: 'fatal' }],
  ['an error', () => ({ error: { code: -32000, message: 'busy' } }), { code: 'PROOFS_UNKNOWN', severity: 'retry' }],
  ['nonsense', () => ({ result: { latest: 'much' } }), { code: 'PROOFS_UNKNOWN' }],
  ['401', () => new Response('', { status: 401 }), { code: 'PROOFS_UNKNOWN' }],
])('l2/proofsStatus: %s is a fault', async (_what, answer, fault) => {
  const endpoint = { url: 'http://127.0.0.1:9', headers: () => ({}), timeoutMs: 1_000 }
  const status = createProofsStatus({ fetch: scriptedFetch(answer), clock: systemClock }, endpoint)
  await expect(status(signal)).rejects.toMatchObject(fault)
})
