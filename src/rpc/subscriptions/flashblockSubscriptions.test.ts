import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { type FakePendingChain, fakePendingChain } from '#test/harness/flashblocks/pendingFakes'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { account, fakeContext, topic } from '#test/harness/rpc/fakes'
import { type ScriptedFeed, scriptedFeed } from '#test/harness/rpc/headFeed'
import { zeroHash } from '#types/ids'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import type { RpcServer } from '../server/httpServer.ts'
import { createWsServer } from '../server/wsServer.ts'
import { pendingRounds } from './pendingRounds.ts'

const log = (emitter: number) => ({ address: account(emitter), topics: [topic(emitter)], data: new Uint8Array(0) })

/** @param denimSec time of Denim; the head of the chain has the time 1700000002, each further block 2 s more */
async function serve(denimSec?: number): Promise<RpcServer & { readonly chain: FakePendingChain; readonly heads: ScriptedFeed }> {
  const chain = fakePendingChain([[], []])
  const fake = fakeContext(chain)
  const heads = scriptedFeed()
  const forks = { ...fake.forks, schedule: { ...fake.forks.schedule, ...(denimSec !== undefined && { denim: denimSec }) } }
  const eth = { ...fake, forks, preconfirmed: pendingRounds(chain.feed) }
  const contextOf: (...of: [SocketContext['cancellation'], SocketContext['subscriptions']]) => SocketContext = (
    cancellation,
    subscriptions,
  ) => ({
    ...{ ...eth, cancellation, subscriptions },
  })
  const metrics = rpcMetrics.register(new Registry())
  const deps = { registry: socketRegistry, contextOf, heads, log: silentLog, clock: systemClock, metrics }
  return Object.assign(await createWsServer<SocketContext>(deps, { host: '127.0.0.1', port: 0, flag: 'ws.port' }), { chain, heads })
}

const subscribe = async (client: SocketClient, ...params: unknown[]): Promise<unknown> =>
  (await client.call('eth_subscribe', ...params))['result']
const next = async (client: SocketClient) => ((await client.next())['params'] as { result: unknown }).result
type Shown = { readonly blockNumber: string; readonly address: string; readonly removed: boolean }
const nextLog = async (client: SocketClient) => {
  const { blockNumber, address, removed } = (await next(client)) as Shown
  return [Number(blockNumber), Number(address), removed]
}

it('rpc/subscriptions: newFlashblocks sends the whole pending block after each flashblock', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  await subscribe(client, 'newFlashblocks')
  server.chain.show([[]])
  server.chain.show([[], [log(1)]])
  const first = { hash: zeroHash, number: '0x2', transactions: [{ blockHash: null, transactionIndex: '0x0', type: '0x2' }] }
  expect(await next(client)).toMatchObject(first)
  expect(await next(client)).toMatchObject({ ...first, transactions: [{}, { hash: server.chain.hashOf(1), transactionIndex: '0x1' }] })
})

it('rpc/subscriptions: newFlashblockTransactions sends new transactions, as hashes or whole with logs', async () => {
  await using server = await serve()
  await using hashes = await openSocket(server.url)
  await using whole = await openSocket(server.url)
  await subscribe(hashes, 'newFlashblockTransactions')
  await subscribe(whole, 'newFlashblockTransactions', true)
  server.chain.show([[]])
  const first = server.chain.hashOf(0)
  server.chain.show([[]])
  server.chain.show([[], [log(1), log(2)]])
  const second = server.chain.hashOf(1)
  expect([await next(hashes), await next(hashes)]).toEqual([first, second])
  expect(await next(whole)).toMatchObject({ hash: first, blockHash: null, logs: [] })
  expect(await next(whole)).toMatchObject({ hash: second, logs: [{ logIndex: '0x0', blockHash: zeroHash }, { logIndex: '0x1' }] })
})

it('rpc/subscriptions: pendingLogs sends matching logs, and sends dropped ones again as removed', async () => {
  await using server = await serve()
  await using all = await openSocket(server.url)
  await using some = await openSocket(server.url)
  await subscribe(all, 'pendingLogs')
  await subscribe(some, 'pendingLogs', { address: account(2) })
  server.chain.show([[log(1)], [log(2)]])
  expect([await nextLog(all), await nextLog(all), await nextLog(some)]).toEqual([[2, 1, false], [2, 2, false], [2, 2, false]]) // biome-ignore format: a table
  server.chain.drop(1)
  expect([await nextLog(all), await nextLog(some)]).toEqual([[2, 2, true], [2, 2, true]]) // biome-ignore format: a table
})

it('rpc/subscriptions: pendingLogs sends a removed log only to subscribers that got it before', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  server.chain.show([[log(1)]])
  await subscribe(client, 'pendingLogs')
  server.chain.show([[log(1)], [log(2)]])
  server.chain.drop(0)
  server.chain.show([[log(3)]])
  expect([await nextLog(client), await nextLog(client), await nextLog(client)]).toEqual([[2, 2, false], [2, 2, true], [2, 3, false]]) // biome-ignore format: a table
})

it('rpc/subscriptions: a flashblock subscription that ended gets no further notification', async () => {
  await using server = await serve()
  await using client = await openSocket(server.url)
  const ended = await subscribe(client, 'newFlashblockTransactions')
  await client.call('eth_unsubscribe', ended)
  server.chain.show([[]])
  await client.call('eth_chainId')
  expect(client.waiting).toEqual([])
})

const kinds = [
  ['newFlashblocks', 'newHeads'],
  ['pendingLogs', 'logs'],
  ['newFlashblockTransactions', 'newHeads and eth_getBlockByHash'],
] as const

it.each(kinds)('rpc/subscriptions: %s is refused on a Denim head, and the error names %s', async (kind, instead) => {
  await using server = await serve(1_700_000_002)
  await using client = await openSocket(server.url)
  const error = { code: -32004, message: `eth_subscribe ${kind}: flashblocks end with Denim, use ${instead}` }
  expect(await client.call('eth_subscribe', kind)).toMatchObject({ error })
})

it.each(kinds)('rpc/subscriptions: %s ends at the first Denim block with a notification that names %s', async (kind, instead) => {
  await using server = await serve(1_700_000_004)
  await using client = await openSocket(server.url)
  const subscription = await subscribe(client, kind)
  const heads = await subscribe(client, 'newHeads')
  server.heads.tell(...server.chain.sealed.blocks.slice(-1))
  expect((await client.next())['params']).toMatchObject({ subscription: heads })
  server.chain.sealed.reorganise(2, [[]])
  server.heads.tell(...server.chain.sealed.blocks.slice(-1))
  const told = [(await client.next())['params'], (await client.next())['params']]
  const error = { code: -32004, message: `eth_subscribe ${kind}: flashblocks end with Denim, use ${instead}` }
  expect(told).toContainEqual({ subscription, error })
  expect(told).toContainEqual(expect.objectContaining({ subscription: heads }))
  expect(await client.call('eth_unsubscribe', subscription)).toMatchObject({ result: false })
})
