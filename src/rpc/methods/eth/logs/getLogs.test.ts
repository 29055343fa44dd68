import { expect, it } from 'vitest'
import { account, type FakeBlock, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import { LogMatcher } from '#types/logMatcher'
import { createReceipt } from '#types/receipt'
import { defaultEthLimits } from '../../../context.ts'
import { getLogs } from './getLogs.ts'

const log = (emitter: number, ...topics: readonly number[]) => ({
  address: account(emitter),
  topics: topics.map(topic),
  data: Uint8Array.of(emitter),
})
const blocks: readonly FakeBlock[] = [[], [[log(1, 10, 20)], [log(2, 10), log(1, 11)]], [[]], [[log(2, 11, 20), log(3)]]]

type Found = readonly { blockNumber: string; transactionIndex: string; logIndex: string; address: string }[]
const places = async (context: ReturnType<typeof fakeContext>, filter: object) =>
  readResult<Found>(await getLogs.call(context, [filter])).map((found) => [
    ...[Number(found.blockNumber), Number(found.transactionIndex), Number(found.logIndex), Number(found.address)],
  ])

const everywhere = { fromBlock: 'earliest', toBlock: 'latest' }
const hexes = (...values: readonly number[]) => values.map(topic)

it.each([
  [
    'the logs of the latest block by default',
    {},
    [
      [3, 0, 0, 2],
      [3, 0, 1, 3],
    ],
  ],
  [
    'everything',
    everywhere,
    [
      [1, 0, 0, 1],
      [1, 1, 1, 2],
      [1, 1, 2, 1],
      [3, 0, 0, 2],
      [3, 0, 1, 3],
    ],
  ],
  [
    'an address',
    { ...everywhere, address: account(1) },
    [
      [1, 0, 0, 1],
      [1, 1, 2, 1],
    ],
  ],
  [
    'either address',
    { ...everywhere, address: [account(1), account(3)] },
    [
      [1, 0, 0, 1],
      [1, 1, 2, 1],
      [3, 0, 1, 3],
    ],
  ],
  [
    'a topic',
    { ...everywhere, topics: [topic(10)] },
    [
      [1, 0, 0, 1],
      [1, 1, 1, 2],
    ],
  ],
  [
    'a topic in the second place',
    { ...everywhere, topics: [null, topic(20)] },
    [
      [1, 0, 0, 1],
      [3, 0, 0, 2],
    ],
  ],
  [
    'alternatives',
    { ...everywhere, topics: [hexes(10, 11)], address: account(2) },
    [
      [1, 1, 1, 2],
      [3, 0, 0, 2],
    ],
  ],
  [
    'an empty list matches anything',
    { ...everywhere, topics: [[], topic(20)] },
    [
      [1, 0, 0, 1],
      [3, 0, 0, 2],
    ],
  ],
  [
    'a null among alternatives matches anything',
    { ...everywhere, topics: [[topic(10), null], topic(20)] },
    [
      [1, 0, 0, 1],
      [3, 0, 0, 2],
    ],
  ],
  ['a range', { fromBlock: '0x2', toBlock: '0x3', topics: [topic(11)] }, [[3, 0, 0, 2]]],
])('rpc/methods/eth/logs/getLogs: matches %s', async (_what, filter, expected) => {
  const chain = fakeChain(blocks)
  expect(await places(fakeContext(chain), filter)).toEqual(expected)
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/logs/getLogs: returns the logs of one block by its hash', async () => {
  const chain = fakeChain(blocks)
  const found = readResult<object[]>(await getLogs.call(fakeContext(chain), [{ blockHash: chain.blocks[3]?.hash, address: account(3) }]))
  expect(found).toEqual([
    {
      ...{
        address: account(3),
        topics: [],
        data: '0x03',
        blockHash: chain.blocks[3]?.hash,
        blockNumber: '0x3',
        blockTimestamp: '0x6553f106',
      },
      ...{ transactionHash: chain.transactionHash(3, 0), transactionIndex: '0x0', logIndex: '0x1', removed: false },
    },
  ])
})

it('rpc/methods/eth/logs/getLogs: refuses too many logs with the longest range that fits, and accepts that range', async () => {
  const chain = fakeChain([[], [[log(1)], [log(1)]], [[log(1)]], [[log(1), log(1)]]])
  const context = { ...fakeContext(chain), limits: { ...defaultEthLimits, logBlocks: 10, logResults: 3 } }
  await expect(getLogs.call(context, [everywhere])).rejects.toThrow('query exceeds max results 3, retry with the range 0-2')
  expect(readResult(await getLogs.call(context, [{ fromBlock: '0x0', toBlock: '0x2' }]))).toHaveLength(3)
})

it('rpc/methods/eth/logs/getLogs: refuses too many bytes with the longest range that fits, and accepts that range', async () => {
  const chain = fakeChain([[], [[log(1)], [log(1)]], [[log(1)]], [[log(1), log(1)]]])
  const context = { ...fakeContext(chain), limits: { ...defaultEthLimits, logBytes: 1_400 } }
  const message = 'query exceeds max size 1400 bytes, retry with the range 0-2'
  await expect(getLogs.call(context, [everywhere])).rejects.toMatchObject({ code: -32602, message })
  expect(readResult(await getLogs.call(context, [{ fromBlock: '0x0', toBlock: '0x2' }]))).toHaveLength(3)
})

it('rpc/methods/eth/logs/getLogs: returns all logs of a single block', async () => {
  const chain = fakeChain([[], [[log(1), log(1)]]])
  const context = { ...fakeContext(chain), limits: { ...defaultEthLimits, logBlocks: 10, logResults: 1 } }
  expect(readResult(await getLogs.call(context, [{ fromBlock: '0x1' }]))).toHaveLength(2)
})

it('rpc/methods/eth/logs/getLogs: returns more logs than a function call can have arguments', async () => {
  const logs = Array.from({ length: 150_000 }, () => log(1))
  const chain = fakeChain([[], [[log(1)]]])
  const view = (): ChainView => {
    const inner = chain.view()
    const receipts = (hash: Hash) => inner.receipts(hash)?.map((each) => ({ ...each, receipt: { ...each.receipt, logs } }))
    return { ...inner, receipts }
  }
  const found = await getLogs.call(fakeContext({ ...chain, view }), [{ fromBlock: '0x1' }])
  expect(String(found).match(/"logIndex"/g)).toHaveLength(150_000)
})

it('rpc/methods/eth/logs/getLogs: refuses a range of too many blocks', async () => {
  const context = { ...fakeContext(fakeChain(blocks)), limits: { ...defaultEthLimits, logBlocks: 2, logResults: 1 } }
  await expect(getLogs.call(context, [everywhere])).rejects.toThrow('query exceeds max block range 2')
})

it('rpc/methods/eth/logs/getLogs: restarts when the chain reorganises between two turns, so that all logs are of one chain', async () => {
  const many = Array.from({ length: 20 }, (): FakeBlock => [[log(1)]])
  const chain = fakeChain(many)
  const search = getLogs.call(fakeContext(chain), [everywhere])
  chain.reorganise(
    1,
    Array.from({ length: 21 }, (): FakeBlock => [[log(2), log(2)]]),
  )
  const found = readResult<Found>(await search)
  expect(found).toHaveLength(1 + 42)
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/logs/getLogs: refuses the rest of a range that retention removes between two turns (4444)', async () => {
  const chain = fakeChain(Array.from({ length: 20 }, (): FakeBlock => [[log(1)]]))
  let oldestLogs = 0
  const search = getLogs.call(fakeContext({ ...chain, view: (): ChainView => ({ ...chain.view(), oldestLogs }) }), [everywhere])
  oldestLogs = 19
  await expect(search).rejects.toMatchObject({ code: 4444 })
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/logs/getLogs: ends a cancelled search', async () => {
  const many = Array.from({ length: 40 }, (): FakeBlock => [[log(1)]])
  const chain = fakeChain(many)
  const cancellation = { isCancelled: false }
  const search = getLogs.call({ ...fakeContext(chain), cancellation }, [everywhere])
  cancellation.isCancelled = true
  await expect(search).rejects.toThrow()
  expect(chain.views.opened).toBeLessThanOrEqual(2)
})

it('rpc/methods/eth/logs/getLogs: skips a block whose bloom does not match', () => {
  const { logsBloom } = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs: [log(1, 10)] })
  const mayBe = (emitter: number, first: number) =>
    new LogMatcher({ addresses: [account(emitter)], topics: [[topic(first)]] }).mayBeIn(logsBloom)
  expect([mayBe(1, 10), mayBe(2, 10), mayBe(1, 11)]).toEqual([true, false, false])
  expect(new LogMatcher({ addresses: [], topics: [] }).mayBeIn(new Uint8Array(256))).toBe(true)
})

it.each([
  ['to latest', { fromBlock: '0x4', toBlock: 'latest' }],
  ['without an end', { fromBlock: '0x4' }],
  ['far above, to a block below', { fromBlock: '0x99', toBlock: '0x1' }],
])('rpc/methods/eth/logs/getLogs: a poll from the block after the head %s finds nothing', async (_what, filter) => {
  expect(await places(fakeContext(fakeChain(blocks)), filter)).toEqual([])
})
