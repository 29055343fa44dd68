import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { SocketContext } from '../context.ts'
import { createFilters } from '../filters/filters.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import { createWsServer } from '../server/wsServer.ts'

const log = (emitter: number) => ({ address: account(emitter), topics: [topic(1)], data: new Uint8Array(0) })

/** A server whose filters and subscriptions share a budget. */
async function serve(maxMatcherBytes: number) {
  const chain = fakeChain([[], [[]]])
  const feed = scriptedFeed()
  const filters = createFilters({ clock: createManualClock() }, { maxMatcherBytes })
  const eth = { ...fakeContext(chain), filters }
  const server = await createWsServer<SocketContext>(
    {
      ...{ registry: socketRegistry, heads: feed, subscriptionBudget: filters.budget, log: silentLog, clock: systemClock },
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      metrics: rpcMetrics.register(new Registry()),
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port' },
  )
  const append = (emitter: number): void => {
    chain.reorganise(chain.blocks.length, [[[log(emitter)]]])
    feed.tell(chain.blocks.at(-1) ?? expect.fail())
  }
  return Object.assign(server, { filters, append })
}

/** The maximum number of addresses and topics of a filter. */
const largest = (first: number) => {
  const thousand = Array.from({ length: 1_000 }, (_, i) => i)
  return {
    address: thousand.map((i) => account(first + i)),
    topics: [0, 1, 2, 3].map((at) => (at === 0 ? thousand.map((i) => topic(i)) : thousand.map((i) => topic(at * 1_000 + i)))),
  }
}
const subscribe = (client: SocketClient, filter: unknown) => client.call('eth_subscribe', 'logs', filter)

it('rpc/subscriptions/room: bounds the subscription bytes of a connection, and releases those of an ended one', async () => {
  await using server = await serve(64_000_000)
  await using client = await openSocket(server.url)
  const { result: id } = await subscribe(client, largest(1))
  const refused = { error: { code: -32006, data: 'Exceeded max limit of 1000000 bytes' } }
  expect(await subscribe(client, largest(2))).toMatchObject(refused)
  expect(await subscribe(client, largest(1))).toMatchObject(refused)
  expect(await subscribe(client, {})).toHaveProperty('result')
  expect(await client.call('eth_unsubscribe', id)).toMatchObject({ result: true })
  expect(await subscribe(client, largest(2))).toHaveProperty('result')
})

it('rpc/subscriptions/room: connections and filters share a budget; equal filters count once, and a few small ones always fit', async () => {
  await using server = await serve(700_000)
  const first = await openSocket(server.url)
  await using second = await openSocket(server.url)
  expect(await subscribe(first, largest(1))).toHaveProperty('result')
  const refused = { error: { code: -32005, data: { limit: 'bytes', max: 700_000 } } }
  expect(await subscribe(second, largest(2))).toMatchObject(refused)
  expect(await second.call('eth_newFilter', largest(2))).toMatchObject(refused)
  expect(await subscribe(second, largest(1))).toHaveProperty('result')
  for (let each = 0; each < 33; each++) expect(await subscribe(second, { address: account(9) })).toHaveProperty('result')
  expect(await subscribe(second, { address: account(9) })).toMatchObject(refused)
  await using third = await openSocket(server.url)
  expect(await subscribe(third, { address: account(9) })).toHaveProperty('result')
  server.append(9)
  expect(await third.next()).toMatchObject({ params: { result: { address: account(9) } } })
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await expect.poll(async () => subscribe(third, largest(2))).toHaveProperty('result')
})
