import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { account, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import { createWsServer } from '../server/wsServer.ts'

/** A server whose `grow` adds a block with `count` logs of `bytes` each. */
async function serve() {
  const [chain, heads, clock, registry] = [fakeChain([[], [[]]]), scriptedFeed(), createManualClock(), new Registry()]
  const eth = fakeContext(chain)
  const server = await createWsServer<SocketContext>(
    {
      ...{ registry: socketRegistry, heads, log: silentLog, clock, metrics: rpcMetrics.register(registry) },
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port', limits: { maxUnreadBytes: 200_000 } },
  )
  const grow = (count: number, bytes: number): void => {
    const log = { address: account(1), topics: [], data: new Uint8Array(bytes) }
    chain.reorganise(chain.blocks.length, [[Array.from({ length: count }, () => log)]])
    heads.tell(chain.blocks.at(-1) ?? expect.fail())
  }
  const slowEnds = async () => (await registry.metrics()).match(/socket_ends_total\{why="slow"\} (\d+)/)?.[1]
  return Object.assign(server, { grow, clock, slowEnds })
}

const logIndexOf = async (client: SocketClient): Promise<number> =>
  Number(((await client.next())['params'] as { result: { logIndex: string } }).result.logIndex)

it('rpc/subscriptions/backlog: a client that reads gets more logs of a block than it may leave unread, in order', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await client.call('eth_subscribe', 'logs', {})
  server.grow(300, 10_000)
  for (let index = 0; index < 300; index++) expect(await logIndexOf(client)).toBe(index)
  server.grow(1, 10)
  expect(await logIndexOf(client)).toBe(0)
})

it('rpc/subscriptions/backlog: a client that reads gets single notifications larger than the bound', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await client.call('eth_subscribe', 'logs', {})
  server.grow(3, 300_000)
  for (let index = 0; index < 3; index++) expect(await logIndexOf(client)).toBe(index)
})

it('rpc/subscriptions/backlog: subscriptions of one client that wait for room send one after the other', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const ids = new Set<unknown>()
  for (let i = 0; i < 4; i++) ids.add((await client.call('eth_subscribe', 'logs', {}))['result'])
  server.grow(1, 300_000)
  for (let i = 0; i < 4; i++) ids.delete(((await client.next())['params'] as { subscription: string }).subscription)
  expect(ids).toEqual(new Set())
})

it('rpc/subscriptions/backlog: ends the connection of a client that does not read for ten seconds', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await client.call('eth_subscribe', 'logs', {})
  client.socket.pause()
  const timers = server.clock.waiting
  server.grow(600, 20_000)
  await expect.poll(() => server.clock.waiting).toBe(timers + 1)
  await server.clock.advanceMs(10_000)
  await server.clock.advanceMs(5_000) // for the close frame
  await expect.poll(() => server.slowEnds()).toBe('1')
})
