import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { createManualClock, settle } from '#test/harness/clock'
import { type FakePendingChain, fakePendingChain } from '#test/harness/flashblocks/pendingFakes'
import { account, fakeContext, fakePool, fakeSender, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { zeroHash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import type { EthContext } from '../../context.ts'
import { blockNotFound, prunedHistory } from '../../errors.ts'
import { ethRegistry } from '../../methods.ts'
import { onSteadyBlock } from './atBlock.ts'

const log = (emitter: number) => ({ address: account(emitter), topics: [topic(emitter)], data: new Uint8Array(0) })
type Shape = Record<string, unknown>
const ask = async <T = unknown>(context: EthContext, method: string, ...params: readonly unknown[]): Promise<T> =>
  readResult<T>(await ethRegistry.get(method)?.call(context, params))

/** Two sealed blocks above genesis; block 3 is pending. */
function setUp(over: Partial<EthContext> = {}): { chain: FakePendingChain; context: EthContext } {
  const chain = fakePendingChain(
    [[], [[log(1)]], [[log(2)], []]],
    { [fakeSender]: { nonce: 1n } },
    { [fakeSender]: { nonce: 3n, balance: 7n } },
  )
  return { chain, context: { ...fakeContext(chain), preconfirmed: chain.feed, ...over } }
}

it('rpc/methods/eth: a pending block has neither hash nor size, and its transactions have no block hash', async () => {
  const { chain, context } = setUp()
  chain.show([[log(3)], []])
  const block = await ask<Shape>(context, 'eth_getBlockByNumber', 'pending', true)
  expect(block).toMatchObject({ hash: zeroHash, number: '0x3', uncles: [], parentHash: chain.sealed.blocks[2]?.hash })
  expect(block).not.toHaveProperty('size')
  expect(block['transactions']).toMatchObject([
    { hash: chain.hashOf(0), blockHash: null, blockNumber: '0x3', transactionIndex: '0x0' },
    { hash: chain.hashOf(1), blockHash: null, blockNumber: '0x3', transactionIndex: '0x1' },
  ])
  expect(await ask(context, 'eth_getHeaderByNumber', 'pending')).toMatchObject({ hash: zeroHash, number: '0x3' })
  expect(await ask(context, 'eth_getBlockTransactionCountByNumber', 'pending')).toBe('0x2')
  expect(await ask(context, 'eth_getBlockByNumber', '0x3', false)).toBeNull()
  expect(await ask(context, 'eth_blockNumber')).toBe('0x2')
})

it('rpc/methods/eth: a pending block cannot be found by its id', async () => {
  const { chain, context } = setUp()
  const { id } = chain.show([[]])
  expect(await ask(context, 'eth_getBlockByHash', id, false)).toBeNull()
  expect(await ask(context, 'eth_getBlockReceipts', id)).toBeNull()
})

it('rpc/methods/eth: receipts and logs of a pending block have the zero hash', async () => {
  const { chain, context } = setUp()
  chain.show([[log(3)], [log(4)]])
  const expected = [0, 1].map((index) => ({
    ...{ blockHash: zeroHash, blockNumber: '0x3', transactionIndex: `0x${index}`, transactionHash: chain.hashOf(index) },
    logs: [{ blockHash: zeroHash, blockNumber: '0x3', logIndex: `0x${index}`, address: account(3 + index), removed: false }],
  }))
  expect(await ask(context, 'eth_getBlockReceipts', 'pending')).toMatchObject(expected)
  expect(await ask(context, 'eth_getTransactionReceipt', chain.hashOf(1))).toMatchObject(expected[1] ?? {})
  expect(await ask(context, 'eth_getTransactionByHash', chain.hashOf(1))).toMatchObject({ blockHash: null, blockNumber: '0x3' })
  expect(await ask(context, 'eth_getTransactionByBlockNumberAndIndex', 'pending', '0x1')).toMatchObject({ hash: chain.hashOf(1) })
})

it('rpc/methods/eth: reads the state of the pending block; the nonce is at least that of its state', async () => {
  const { chain, context } = setUp({ pool: fakePool() })
  chain.show([[]])
  expect(await ask(context, 'eth_getBalance', fakeSender, 'pending')).toBe('0x7')
  expect(await ask(context, 'eth_getBalance', fakeSender, 'latest')).toBe('0x0')
  expect(await ask(context, 'eth_getTransactionCount', fakeSender, 'pending')).toBe('0x3')
  const pool = { ...fakePool(), nextNonce: async () => 5n }
  expect(await ask({ ...context, pool }, 'eth_getTransactionCount', fakeSender, 'pending')).toBe('0x5')
})

it.each([
  ['latest', '0x2'],
  ['finalized', '0x0'],
] as const)('rpc/methods/eth: without a pending block, pending is the %s block when so configured', async (pendingFallback, number) => {
  const { chain, context } = setUp({ pendingFallback })
  expect(await ask(context, 'eth_getBlockByNumber', 'pending', false)).toMatchObject({ number, size: expect.any(String) })
  chain.show([[]])
  expect(await ask(context, 'eth_getBlockByNumber', 'pending', false)).toMatchObject({ number: '0x3' })
  chain.drop(0)
  expect(await ask(context, 'eth_getBlockByNumber', 'pending', false)).toMatchObject({ number })
})

it('rpc/methods/eth: a receipt has the block hash once its block is sealed', async () => {
  const { chain, context } = setUp()
  chain.show([[log(3)]])
  const hash = chain.hashOf(0)
  expect(await ask(context, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockHash: zeroHash })
  chain.seal()
  const sealed = chain.sealed.blocks[3]?.hash
  expect(await ask(context, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockHash: sealed, logs: [{ blockHash: sealed }] })
})

it.each<[unknown, readonly (readonly [number, number])[]]>([
  [{ fromBlock: 'latest', toBlock: 'pending' }, [[2, 2], [3, 3], [4, 1]]], // biome-ignore format: a table
  [{ fromBlock: 'pending', toBlock: 'pending' }, [[4, 1]]],
  [{ fromBlock: 'pending' }, [[4, 1]]],
  [{ fromBlock: 'pending', toBlock: 'latest' }, []],
  [{ fromBlock: '0x0', toBlock: 'pending', address: account(1) }, [[1, 1], [4, 1]]], // biome-ignore format: a table
  [{ fromBlock: '0x3', toBlock: 'pending' }, [[3, 3], [4, 1]]], // biome-ignore format: a table
  [{ fromBlock: '0x0', toBlock: 'latest', address: account(1) }, [[1, 1]]],
])('rpc/methods/eth: logs of %j over two pending blocks are %j', async (filter, expected) => {
  const { chain, context } = setUp()
  chain.show([[log(3)]])
  chain.show([[log(1)]], 'next')
  const logs = await ask<Shape[]>(context, 'eth_getLogs', filter)
  expect(logs.map(({ blockNumber, address }) => [Number(blockNumber), Number(address)])).toEqual(expected)
  for (const { blockNumber, blockHash } of logs) expect(blockHash === zeroHash).toBe(Number(blockNumber) > 2)
})

it('rpc/methods/eth: eth_getLogs refuses a block number above the newest sealed block (-32602)', async () => {
  const { chain, context } = setUp()
  chain.show([[log(3)]])
  await expect(ask(context, 'eth_getLogs', { fromBlock: '0x0', toBlock: '0x3' })).rejects.toMatchObject({ code: -32602 })
})

it('rpc/methods/eth: a method for sealed blocks takes pending as the newest sealed block', async () => {
  const { chain, context } = setUp()
  chain.show([[]])
  expect(await ask(context, 'eth_feeHistory', '0x1', 'pending')).toMatchObject({ oldestBlock: '0x2' })
})

it('rpc/methods/eth: finds a transaction by sender and nonce in a pending block', async () => {
  const { chain, context } = setUp()
  chain.show([[], []])
  expect(await ask(context, 'eth_getTransactionBySenderAndNonce', fakeSender, '0xbb9')).toMatchObject({
    hash: chain.hashOf(1),
    blockHash: null,
  })
})

it('rpc/methods/eth: base_transactionStatus reports a preconfirmed transaction without a block hash', async () => {
  const { chain, context } = setUp()
  chain.show([[]])
  const detail = { state: 'preconfirmed', blockNumber: '0x3' }
  expect(await ask(context, 'base_transactionStatus', chain.hashOf(0))).toEqual({ status: 'Known', detail })
})

it('rpc/methods/eth: eth_sendRawTransactionSync answers once the transaction is preconfirmed', async () => {
  const { chain, context } = setUp({ pool: fakePool(), clock: createManualClock() })
  const raw = signedTransaction(3_000) // the first of block 3
  const sent = ask<Shape>(context, 'eth_sendRawTransactionSync', toHex(raw))
  await settle()
  chain.show([])
  await settle()
  chain.show([[log(1)]])
  expect(await sent).toMatchObject({ transactionHash: hashTransaction(raw), blockHash: zeroHash, blockNumber: '0x3' })
})

it.each([
  ['pending', 2, prunedHistory(), 'resolves', 3],
  ['pending', 9, prunedHistory(), -32603, 4],
  ['pending', 2, blockNotFound('x'), -32001, 1],
  ['latest', 2, prunedHistory(), 4444, 1],
] as const)('rpc/methods/eth: a query on %s that fails %i times (%s) %s after %i tries', async (tag, failures, error, end, expected) => {
  let tries = 0
  const query = async (): Promise<string> => {
    if (++tries <= failures) throw error
    return 'resolves'
  }
  const ended = await onSteadyBlock({ kind: 'tag', tag }, query).catch(({ code }) => code)
  expect([ended, tries]).toEqual([end, expected])
})
