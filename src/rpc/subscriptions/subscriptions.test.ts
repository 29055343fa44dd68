import { Registry } from 'prom-client'
import { createPublicClient, webSocket } from 'viem'
import { expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import {
  account,
  type FakeBlock,
  type FakeChain,
  fakeChain,
  fakeContext,
  fakePool,
  fakeSender,
  signedTransaction,
  topic,
} from '#test/harness/rpc/fakes'
import { type ScriptedFeed, scriptedFeed } from '#test/harness/rpc/headFeed'
import type { PooledTransaction } from '#types/pooledTransaction'
import { hashTransaction } from '#types/transaction'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import type { SyncProgress } from '../ports.ts'
import type { RpcServer } from '../server/httpServer.ts'
import { createWsServer } from '../server/wsServer.ts'

const log = (emitter: number, ...topics: readonly number[]) => ({
  ...{ address: account(emitter), topics: topics.map(topic), data: new Uint8Array(0) },
})
type Served = RpcServer & {
  readonly chain: FakeChain
  readonly feed: ScriptedFeed
  /** number of subscriptions */
  readonly clock: ManualClock
  readonly sync: { now: SyncProgress | undefined }
  grow(...blocks: readonly FakeBlock[]): void
}

async function serve(pooled: readonly PooledTransaction[] = []): Promise<Served> {
  const chain = fakeChain([[], [[log(1)]]])
  const feed = scriptedFeed()
  const clock = createManualClock()
  const sync: Served['sync'] = { now: undefined }
  const eth = { ...fakeContext({ view: () => chain.view(), sync: () => sync.now }), clock, pool: fakePool(pooled) }
  const metrics = rpcMetrics.register(new Registry())
  const contextOf: (...of: [SocketContext['cancellation'], SocketContext['subscriptions']]) => SocketContext = (
    cancellation,
    subscriptions,
  ) => ({
    ...{ ...eth, cancellation, subscriptions },
  })
  const deps = { registry: socketRegistry, contextOf, heads: feed, pending: eth.filters, log: silentLog, clock: systemClock, metrics }
  const server = await createWsServer<SocketContext>(deps, { host: '127.0.0.1', port: 0, flag: 'ws.port' })
  const grow = (...blocks: readonly FakeBlock[]): void => {
    const from = chain.blocks.length
    chain.reorganise(from, blocks)
    feed.tell(...chain.blocks.slice(from))
  }
  return Object.assign(server, { chain, feed, clock, sync, grow })
}

const subscribe = async (client: SocketClient, ...params: unknown[]): Promise<unknown> =>
  (await client.call('eth_subscribe', ...params))['result']
type Told = { readonly subscription: string; readonly result: { blockNumber: string; address: string; removed: boolean } }
const told = async (client: SocketClient) => {
  const { subscription, result } = (await client.next())['params'] as Told
  return [subscription, Number(result.blockNumber), Number(result.address), ...(result.removed ? ['removed'] : [])]
}

it('rpc/subscriptions: logs sends matching logs of blocks after its start, in order', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const [one, all] = [await subscribe(client, 'logs', { address: account(1) }), await subscribe(client, 'logs')]
  server.grow([[log(2), log(1)]])
  const found = [await told(client), await told(client), await told(client)]
  expect(found.filter(([id]) => id === one)).toEqual([[one, 2, 1]])
  expect(found.filter(([id]) => id === all)).toEqual([
    [all, 2, 2],
    [all, 2, 1],
  ])
})

it('rpc/subscriptions: logs sends the removed logs of a reorg, then the new ones', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const id = await subscribe(client, 'logs', {})
  server.grow([[log(1)]])
  expect(await told(client)).toEqual([id, 2, 1])
  server.chain.reorganise(2, [[[log(7)]], [[log(8)]]])
  server.feed.tell(...server.chain.blocks.slice(2))
  expect([await told(client), await told(client), await told(client)]).toEqual([
    [id, 2, 1, 'removed'],
    [id, 2, 7],
    [id, 3, 8],
  ])
})

it('rpc/subscriptions: logs sends each log once when heads arrive faster than logs are found', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const id = await subscribe(client, 'logs', {})
  for (let number = 2; number < 60; number++) server.grow([[log(number)]])
  for (let number = 2; number < 60; number++) expect(await told(client)).toEqual([id, number, number])
  expect(client.waiting).toEqual([])
})

it('rpc/subscriptions: an ended subscription gets no further notification', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const [ended, kept] = [await subscribe(client, 'logs', {}), await subscribe(client, 'logs', {})]
  expect((await client.call('eth_unsubscribe', ended))['result']).toBe(true)
  server.grow([[log(1)]])
  expect(await told(client)).toEqual([kept, 2, 1])
  expect(client.waiting).toEqual([])
})

it('rpc/subscriptions: ends the connection at a reorg deeper than its memory, so that the client starts over', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await subscribe(client, 'logs', {})
  server.chain.reorganise(0, [[[log(9)]], []])
  server.feed.tell(...server.chain.blocks)
  expect((await client.closed).code).toBe(1008)
})

it('rpc/subscriptions: newPendingTransactions sends hashes of pool transactions from any source', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await using other = await openSocket(server.url)
  const id = await subscribe(client, 'newPendingTransactions')
  await subscribe(client, 'newHeads')
  await other.call('eth_sendRawTransaction', '0x02c0')
  const params = { subscription: id, result: hashTransaction(Uint8Array.of(2, 0xc0)) }
  expect(await client.next()).toEqual({ jsonrpc: '2.0', method: 'eth_subscription', params })
  expect(client.waiting).toEqual([])
})

it('rpc/subscriptions: newPendingTransactions ends with the subscription, not with another one of the connection', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await using other = await openSocket(server.url)
  const [first, second] = [await subscribe(client, 'newPendingTransactions'), await subscribe(client, 'newPendingTransactions')]
  await client.call('eth_unsubscribe', first)
  await other.call('eth_sendRawTransaction', '0x02c0')
  expect(await client.next()).toMatchObject({ params: { subscription: second } })
  await client.call('eth_unsubscribe', second)
  await other.call('eth_sendRawTransaction', '0x02c1')
  await subscribe(client, 'newPendingTransactions')
  expect(client.waiting).toEqual([])
})

it('rpc/subscriptions: newPendingTransactions sends whole transactions on request', async () => {
  const raw = signedTransaction(7)
  const hash = hashTransaction(raw)
  await using server = await serve([{ hash, sender: fakeSender, raw, isPending: true }])
  await using client = await openSocket(server.url)
  await using other = await openSocket(server.url)
  const id = await subscribe(client, 'newPendingTransactions', true)
  const again = await subscribe(client, 'newPendingTransactions', true)
  await other.call('eth_sendRawTransaction', '0x02c0') // dropped before it is read
  await other.call('eth_sendRawTransaction', toHex(raw))
  for (const subscription of [id, again])
    expect(await client.next()).toMatchObject({
      params: { subscription, result: { hash, from: fakeSender, nonce: '0x7', blockHash: null } },
    })
  await client.call('eth_unsubscribe', id)
  await client.call('eth_unsubscribe', again)
  await other.call('eth_sendRawTransaction', toHex(raw))
  expect(client.waiting).toEqual([])
})

it('rpc/subscriptions: syncing sends the sync state and its changes', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const subscription = await subscribe(client, 'syncing')
  const notified = (result: unknown) => ({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } })
  expect(await client.next()).toEqual(notified(false))
  server.sync.now = { starting: 1, current: 5, highest: 9 }
  await server.clock.advanceMs(1_000)
  expect(await client.next()).toEqual(notified({ syncing: true, startingBlock: 1, currentBlock: 5, highestBlock: 9 }))
  server.sync.now = { starting: 1, current: 7, highest: 9 }
  await server.clock.advanceMs(5_000)
  server.sync.now = undefined
  await server.clock.advanceMs(1_000)
  expect(await client.next()).toEqual(notified(false))
  await client[Symbol.asyncDispose]()
  await vi.waitFor(() => expect(server.clock.waiting).toBe(0))
})

it.each<[readonly unknown[], number]>([
  [['newFlashblocks'], -32004],
  [['newFlashblockTransactions', true], -32004],
  [['toString'], -32602],
  [['logs', { topics: 'x' }], -32602],
  [['logs', 7], -32602],
  [['pendingLogs'], -32004],
  [['everything'], -32602],
  [[], -32602],
])('rpc/subscriptions: refuses eth_subscribe %j (%i)', async (params, code) => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  expect(await client.call('eth_subscribe', ...params)).toMatchObject({ error: { code } })
})

it("rpc/subscriptions: viem's watchers of logs and of pending transactions work unchanged", async () => {
  await using server = await serve()
  const client = createPublicClient({ transport: webSocket(server.url, { reconnect: false, retryCount: 0 }) })
  const logs: unknown[] = []
  const pending: unknown[] = []
  const stopLogs = client.watchEvent({ onLogs: (found) => logs.push(...found.map(({ blockNumber }) => blockNumber)) })
  const stopPending = client.watchPendingTransactions({ onTransactions: (hashes) => pending.push(...hashes) })
  await client.getBlockNumber() // earlier requests are answered
  await client.getBlockNumber()
  server.grow([[log(3)]])
  await client.request({ method: 'eth_sendRawTransaction', params: ['0x02c0'] })
  await vi.waitFor(() => expect([logs, pending]).toEqual([[2n], [hashTransaction(Uint8Array.of(2, 0xc0))]]))
  stopLogs()
  stopPending()
  const socket = await client.transport.getRpcClient()
  socket.close()
})
