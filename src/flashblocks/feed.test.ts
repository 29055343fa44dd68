import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants } from 'node:zlib'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createLog, type Log, silentLog } from '#lib/log'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { blockAt, flashblockAt, hashAt, messageOf, modelPending, type PendingModel } from '#test/harness/flashblocks/messages'
import { watchTurns } from '#test/harness/threadTime'
import type { Flashblock } from '#types/flashblock'
import { maxMessageBytes } from './decode.ts'
import { createFeed, defaultFeedOptions, type Feed, parseFeedUrls } from './feed.ts'
import { flashblocksMetrics } from './metrics.ts'

const maxAgeMs = 4_000
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } }

/** A scripted publisher. */
type Publisher = AsyncDisposable & {
  readonly url: string
  readonly clients: ReadonlySet<WebSocket>
  readonly paths: readonly string[]
  readonly server: WebSocketServer
  send(...messages: (string | Uint8Array | Flashblock)[]): void
}

async function startPublisher(options: { readonly autoPong?: boolean } = {}): Promise<Publisher> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options })
  await once(server, 'listening')
  const paths: string[] = []
  server.on('connection', (socket, request) => {
    paths.push(`${request.url} ${request.headers.authorization ?? ''}`)
    socket.on('error', () => {})
  })
  return {
    ...{ server, paths, clients: server.clients, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws` },
    send(...messages) {
      for (const message of messages) {
        const data = typeof message === 'string' || message instanceof Uint8Array ? message : messageOf(message)
        for (const client of server.clients) client.send(data)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

type Followed = Disposable & {
  readonly clock: ManualClock
  readonly model: PendingModel
  readonly feed: Feed
  counted(name: string, label: string): Promise<number>
}

function follow(urls: readonly string[], log: Log = silentLog): Followed {
  const clock = createManualClock()
  const model = modelPending(blockAt(10))
  const registry = new Registry()
  const feed = createFeed(
    {
      ...{ clock, log, pending: model, random: () => 0, metrics: flashblocksMetrics.register(registry) },
      shown: () => ({ head: model.head, executed: model.executed }),
      isSynced: () => true,
    },
    { ...defaultFeedOptions, endpoints: parseFeedUrls(urls), maxAgeMs },
  )
  return {
    ...{ clock, model, feed },
    async counted(name, label) {
      const { values } = (await registry.getSingleMetric(`basalt_flashblocks_${name}`)?.get()) ?? expect.fail()
      return values.find(({ labels }) => Object.values(labels).includes(label))?.value ?? expect.fail()
    },
    [Symbol.dispose]: () => feed[Symbol.dispose](),
  }
}

const until = (check: () => unknown): Promise<void> => vi.waitFor(async () => void (await check()), { timeout: 5_000, interval: 2 })
const connected = ({ clients }: Publisher, count = 1): Promise<void> => until(() => expect(clients.size).toBe(count))

it('flashblocks/feed: takes text and binary, JSON and brotli alike', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  const [zero, one, two] = [0, 1, 2].map((index) => messageOf(flashblockAt(11, index))) as [string, string, string]
  publisher.send(zero, Buffer.from(one), brotliCompressSync(Buffer.from(two)))
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1', '11.2']))
  expect(at.feed.problems()).toEqual([])
})

it('flashblocks/feed: sends user and password of a URL as a header, and logs neither', async () => {
  await using publisher = await startPublisher()
  const lines: string[] = []
  using _at = follow([publisher.url.replace('//', '//me:secret@')], createLog('debug', { write: (line) => void lines.push(line) }))
  await until(() => expect(publisher.paths).toEqual([`/ws Basic ${btoa('me:secret')}`]))
  expect(lines.join()).not.toContain('secret')
})

it.each([['http://a'], ['nonsense']])('flashblocks/feed: refuses %s without quoting it (FEED_URL_INVALID)', (url) => {
  expect(() => parseFeedUrls([url])).toThrow(
    expect.objectContaining({ code: 'FEED_URL_INVALID', message: expect.not.stringContaining(url) }),
  )
})

it.each<[string, 'json' | 'encoding' | 'size' | 'shape', () => string | Uint8Array]>([
  ['malformed JSON', 'json', () => '{"payload_id":'],
  ['bad brotli', 'encoding', () => brotliCompressSync(Buffer.from(messageOf(flashblockAt(11, 1)))).subarray(0, -9)],
  ['a small message that unpacks to 100 MB', 'size', () => brotliCompressSync(new Uint8Array(100 * 2 ** 20), quickly)],
  ['wrong types', 'shape', () => messageOf(flashblockAt(11, 1)).replace('"index":1', '"index":"1"')],
])('flashblocks/feed: counts %s, and takes the next message', async (_case, reason, message) => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  publisher.send(flashblockAt(11, 0), message(), flashblockAt(11, 1))
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1']))
  expect(await at.counted('bad_frames_total', reason)).toBe(1)
})

it('flashblocks/feed: does not hold up the main thread when messages are expensive to decode', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  const keys = Array.from({ length: 250_000 }, (_, i) => `"k${i}":0`).join(',')
  const manyKeys = Buffer.from(messageOf(flashblockAt(11, 1)).replace('"metadata":{', `"metadata":{"receipts":{${keys}},`))
  const message = brotliCompressSync(manyKeys, quickly)
  publisher.send(flashblockAt(11, 0))
  await until(() => expect(at.model.took).toEqual(['11.0']))
  const turns = watchTurns()
  publisher.send(message)
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1']))
  expect(turns.longestMs()).toBeLessThan(100)
})

it('flashblocks/feed: ends the connection at a message of 100 MB, and takes messages of the next connection', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  publisher.send(flashblockAt(11, 0), new Uint8Array(100 * 2 ** 20).fill(0x20))
  await until(async () => expect(await at.counted('disconnects_total', 'too-large')).toBe(1))
  expect([await at.counted('bad_frames_total', 'size'), maxMessageBytes]).toEqual([1, 16 * 2 ** 20])
  await connected(publisher, 0)
  await at.clock.advanceMs(1_000)
  await connected(publisher)
  publisher.send(flashblockAt(11, 1))
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1']))
})

it('flashblocks/feed: holds or ignores flashblocks whose index jumps or that are far ahead', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  publisher.send(flashblockAt(11, 0), flashblockAt(11, 7), flashblockAt(10, 3), flashblockAt(40, 1), flashblockAt(11, 1))
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1']))
  const places = await Promise.all(['gap', 'late', 'too-far'].map((place) => at.counted('frames_total', place)))
  expect(places).toEqual([1, 1, 1])
})

it.each<[string, (number: number) => Flashblock, PendingModel['refuse'] extends (refusal: infer R) => void ? R : never]>([
  ['bases with a wrong parent', (number) => flashblockAt(11, 0, { variant: number, parent: hashAt(number, 'f') }), () => undefined],
  ['a stream of another chain', (number) => flashblockAt(5_000 + number, 0), () => undefined],
  ['flashblocks whose transactions do not decode or execute', (number) => flashblockAt(11, 0, { variant: number }), () => 'transaction'],
  ['flashblocks whose gas differs from their execution', (number) => flashblockAt(11, 0, { variant: number }), () => 'outcome'],
])(
  'flashblocks/feed: drops pending and leaves a publisher for a while when it sends %s (FEED_UNHEALTHY)',
  async (_what, wrong, refusal) => {
    await using publisher = await startPublisher()
    const lines: string[] = []
    using at = follow([publisher.url], createLog('warn', { write: (line) => void lines.push(line) }))
    const { model, clock } = at
    await connected(publisher)
    model.refuse(refusal)
    for (let number = 1; number <= 8; number++) {
      publisher.send(wrong(number))
      // one build is refused per head
      await until(async () => expect(await seen()).toBe(number))
      model.setHead(blockAt(10))
      at.feed.headsChanged()
      if (model.head.number > 10) break
    }
    async function seen(): Promise<number> {
      const counts = ['orphaned', 'too-far', 'next-block', 'replace'].map((place) => at.counted('frames_total', place))
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
    }
    await until(async () => expect(await at.counted('upstream_connections', 'unhealthy')).toBe(1))
    await connected(publisher, 0)
    expect(lines.join()).toContain('FEED_UNHEALTHY')
    expect(model.blocks).toEqual([])
    expect(at.feed.problems()).toHaveLength(1)
    model.refuse(() => undefined)
    await clock.advanceMs(9_999)
    await connected(publisher, 0)
    await clock.advanceMs(1)
    await connected(publisher)
    publisher.send(flashblockAt(11, 0, { variant: 99 }))
    await until(() => expect(at.feed.problems()).toEqual([]))
    expect(await at.counted('upstream_connections', 'unhealthy')).toBe(0)
  },
)

it('flashblocks/feed: is stale, then reconnects, when a publisher is silent; recovers with one flashblock', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  await connected(publisher)
  publisher.send(flashblockAt(11, 0))
  await until(() => expect(at.model.blocks).toHaveLength(1))
  // pongs continue: they are no data
  for (let ms = 0; ms < maxAgeMs; ms += 500) {
    await at.clock.advanceMs(500)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect([at.model.blocks, at.feed.problems()]).toEqual([[], [expect.stringMatching(/^no fresh pending block: .*silent$/)]])
  publisher.send(flashblockAt(11, 1))
  await until(() => expect(at.model.blocks).toHaveLength(1))
  expect(at.feed.problems()).toEqual([])
})

it('flashblocks/feed: disconnects a publisher that leaves two pings unanswered', async () => {
  await using publisher = await startPublisher({ autoPong: false })
  using at = follow([publisher.url])
  await connected(publisher)
  await until(() => expect(at.clock.waiting).toBeGreaterThan(2))
  await at.clock.advanceMs(1_500)
  expect(await at.counted('disconnects_total', 'no-pong')).toBe(1)
})

it('flashblocks/feed: waits after a clean close too, one second, then longer', async () => {
  await using publisher = await startPublisher()
  using at = follow([publisher.url])
  for (const [closes, waitMs] of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
    await connected(publisher)
    for (const client of publisher.clients) client.close(1_000)
    await until(async () => expect(await at.counted('disconnects_total', 'closed')).toBe(closes + 1))
    await at.clock.advanceMs(waitMs - 1)
    expect(publisher.clients.size).toBe(0)
    await at.clock.advanceMs(1)
  }
  await connected(publisher)
})

it('flashblocks/feed: needs one of two publishers, and takes from each the flashblocks that the other lost', async () => {
  await using publisher = await startPublisher()
  await using other = await startPublisher()
  using at = follow(['ws://127.0.0.1:1/', publisher.url, other.url])
  await connected(publisher)
  await connected(other)
  publisher.send(flashblockAt(11, 0), flashblockAt(11, 2))
  other.send(flashblockAt(11, 0), flashblockAt(11, 1), flashblockAt(11, 2))
  await until(() => expect(at.model.took).toEqual(['11.0', '11.1', '11.2']))
  for (const client of publisher.clients) client.terminate()
  other.send(flashblockAt(11, 3))
  await until(() => expect(at.model.took).toContain('11.3'))
  expect(at.feed.problems()).toEqual([])
  await until(async () => expect(await at.counted('disconnects_total', 'unreachable')).toBe(1))
})
