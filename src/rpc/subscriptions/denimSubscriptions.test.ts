import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { signedBy } from '#test/harness/chain/blocks'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { openSocket, type SocketClient } from '#test/harness/process/socketClient'
import { type DenimChain, openDenimChain } from '#test/harness/rpc/denimChain'
import { zeroHash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { rpcMetrics } from '../metrics.ts'
import type { RpcServer } from '../server/httpServer.ts'
import { createWsServer } from '../server/wsServer.ts'

/** Emits an empty log. */
const emitter = testAccount(testAddress(0xc2), { nonce: 1n, code: '0x60006000a0' })
const emit = (nonce: bigint): Uint8Array => signedBy('alice', { nonce, to: emitter.address, value: 0n, gasLimit: 50_000n })

const serve = ({ eth }: DenimChain): Promise<RpcServer> =>
  createWsServer<SocketContext>(
    {
      ...{ registry: socketRegistry, heads: eth.heads, log: silentLog, clock: systemClock },
      contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
      metrics: rpcMetrics.register(new Registry()),
    },
    { host: '127.0.0.1', port: 0, flag: 'ws.port' },
  )

type Result = Record<string, unknown>
type Told = { readonly subscription: string; readonly result: Result }
const next = async (client: SocketClient): Promise<Told> => (await client.next())['params'] as Told

it('rpc/subscriptions: newHeads of Denim blocks have their time in milliseconds', async () => {
  const chain = openDenimChain()
  await using server = await serve(chain)
  await using client = await openSocket(server.url)
  await client.call('eth_subscribe', 'newHeads')
  for (let number = 1; number <= 5; number++) await chain.grow()
  const heads: unknown[] = []
  while (heads.length < 5) {
    const { number, timestamp, timestampMs } = (await next(client)).result
    heads.push([number, timestamp, timestampMs])
  }
  expect(heads).toEqual([
    ['0x1', '0xf4242', undefined],
    ['0x2', '0xf4244', undefined],
    ['0x3', '0xf4246', '0x3b9ae170'],
    ['0x4', '0xf4246', '0x3b9ae238'],
    ['0x5', '0xf4246', '0x3b9ae300'],
  ])
})

it('rpc/subscriptions: logs of Denim blocks have the time of their block in milliseconds, also when they are removed', async () => {
  const chain = openDenimChain([emitter])
  await chain.grow()
  await using server = await serve(chain)
  await using client = await openSocket(server.url)
  await client.call('eth_subscribe', 'logs', { address: emitter.address })
  const told = async (): Promise<unknown[]> => {
    const { blockTimestampMs, removed } = (await next(client)).result
    return [blockTimestampMs, removed]
  }
  await chain.grow([emit(0n)])
  expect(await told()).toEqual([undefined, false])
  const anchor = await chain.grow([emit(1n)])
  expect(await told()).toEqual(['0x3b9ae170', false])
  await chain.grow([emit(2n)])
  expect(await told()).toEqual(['0x3b9ae238', false])
  await chain.grow([signedBy('alice', { nonce: 2n })], anchor)
  expect(await told()).toEqual(['0x3b9ae238', true])
})

it('rpc/subscriptions: transactionReceipts sends the receipts of each new block, as eth_getBlockReceipts returns them', async () => {
  const chain = openDenimChain([emitter])
  await using server = await serve(chain)
  await using client = await openSocket(server.url)
  const id = (await client.call('eth_subscribe', 'transactionReceipts'))['result']
  const times: unknown[] = []
  for (let nonce = 0n; nonce < 4n; nonce++) {
    const { blockHash } = await chain.grow([emit(nonce)])
    const { subscription, result } = (await next(client)) as unknown as { subscription: unknown; result: { logs: Result[] }[] }
    expect(subscription).toBe(id)
    expect(result).toEqual((await client.call('eth_getBlockReceipts', blockHash))['result'])
    times.push(result.at(-1)?.logs[0]?.['blockTimestampMs'])
  }
  expect(times).toEqual([undefined, undefined, '0x3b9ae170', '0x3b9ae238'])
})

it('rpc/subscriptions: transactionReceipts with hashes sends their receipts only, again after a reorg, also below its start', async () => {
  const chain = openDenimChain([emitter])
  const below = await chain.grow()
  await chain.grow()
  await using server = await serve(chain)
  await using client = await openSocket(server.url)
  const raw = emit(0n)
  const hash = hashTransaction(raw)
  await client.call('eth_subscribe', 'transactionReceipts', { transactionHashes: [zeroHash, hash] })
  const told = async (): Promise<unknown> =>
    ((await next(client)).result as unknown as Result[]).map(({ transactionHash, blockHash }) => [transactionHash, blockHash])
  await chain.grow()
  const first = await chain.grow([emit(0n), signedBy('bob', {})])
  expect(await told()).toEqual([[hash, first.blockHash]])
  const second = await chain.grow([signedBy('bob', {}), raw], below)
  expect(await told()).toEqual([[hash, second.blockHash]])
  expect(client.waiting).toEqual([])
})

it.each<[string, unknown, object]>([
  ['transactionReceipts', true, { message: 'Invalid params for transactionReceipts' }],
  ['transactionReceipts', { address: emitter.address }, { message: 'Invalid params for transactionReceipts' }],
  ['transactionReceipts', { transactionHashes: ['0x1'] }, { message: 'Invalid params' }],
  ['transactionReceipts', { transactionHashes: Array(201).fill(zeroHash) }, { message: 'at most 200 transaction hashes allowed' }],
  ['logs', { transactionHashes: [] }, { message: 'Invalid params for logs' }],
])('rpc/subscriptions: %s refuses %j', async (kind, filter, error) => {
  await using server = await serve(openDenimChain())
  await using client = await openSocket(server.url)
  expect(await client.call('eth_subscribe', kind, filter)).toMatchObject({ error: { code: -32602, ...error } })
})

it('rpc/subscriptions: hashes of transactionReceipts count as memory of the connection', async () => {
  await using server = await serve(openDenimChain())
  await using client = await openSocket(server.url)
  const subscribe = (): Promise<Result> =>
    client.call('eth_subscribe', 'transactionReceipts', { transactionHashes: Array(200).fill(zeroHash) })
  for (let i = 0; i < 36; i++) expect(await subscribe()).toHaveProperty('result') // 27,600 bytes each
  expect(await subscribe()).toMatchObject({ error: { code: -32006, data: 'Exceeded max limit of 1000000 bytes' } })
})
