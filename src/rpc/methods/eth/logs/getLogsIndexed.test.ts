import { expect, it } from 'vitest'
import { account, type FakeBlock, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import type { ChainView } from '#types/chainView'
import { defaultEthLimits } from '../../../context.ts'
import { getLogs } from './getLogs.ts'

const log = (emitter: number) => ({ address: account(emitter), topics: [], data: new Uint8Array(0) })
/** Block n > 0: a transaction with logs of accounts 1 and 2, and one with a log of account 3. */
const blocks = Array.from({ length: 40 }, (): FakeBlock => [[log(1), log(2)], [log(3)]])
const chain = fakeChain([[], ...blocks])

/** Chain whose index returns these transactions for blocks up to 30, ten blocks per query. */
function indexed(transactions: (number: number) => readonly number[]) {
  const asked: (readonly [number, number])[] = []
  const findLogs: ChainView['findLogs'] = (_wanted, from, to) => {
    asked.push([from, to])
    if (from > 30) return { kind: 'unindexed', next: to + 1 }
    const next = Math.min(from + 10, 31, to + 1)
    const numbers = Array.from({ length: next - from }, (_, i) => from + i).filter((number) => number > 0)
    return { kind: 'found', places: numbers.map((number) => ({ number, transactions: transactions(number) })), next }
  }
  const view = (): ChainView => ({ ...chain.view(), findLogs })
  return { context: fakeContext({ ...chain, view }), asked }
}

const everywhere = { fromBlock: '0x0', toBlock: 'latest' }
type Found = readonly { blockNumber: string; transactionIndex: string; logIndex: string }[]
const placesOf = (found: Found) => found.map((each) => [each.blockNumber, each.transactionIndex, each.logIndex].map(Number))

it('rpc/methods/eth/logs/getLogs: filters the transactions of the index, and scans blocks that it does not cover', async () => {
  const { context, asked } = indexed((number) => (number % 7 === 0 ? [0, 1] : []))
  const found = readResult<Found>(await getLogs.call(context, [{ ...everywhere, address: account(2) }]))
  const named = [7, 14, 21, 28, ...Array.from({ length: 10 }, (_, i) => 31 + i)]
  expect(placesOf(found)).toEqual(named.map((number) => [number, 0, 1]))
  expect(asked.slice(0, 3)).toEqual([
    [0, 40],
    [10, 40],
    [20, 40],
  ])
})

it('rpc/methods/eth/logs/getLogs: reads an index result over several turns without a second query', async () => {
  const many = [...Array(28).fill(1), 0]
  const places = Array.from({ length: 40 }, (_, at) => ({ number: at + 1, transactions: many }))
  let asked = 0
  let views = 0
  const findLogs: ChainView['findLogs'] = (_wanted, _from, to) => {
    asked++
    return { kind: 'found', places, next: to + 1 }
  }
  const view = (): ChainView => {
    views++
    return { ...chain.view(), findLogs }
  }
  const found = readResult<Found>(await getLogs.call(fakeContext({ ...chain, view }), [{ ...everywhere, address: account(2) }]))
  expect(found.map(({ blockNumber }) => Number(blockNumber))).toEqual(places.map(({ number }) => number))
  expect(asked).toBe(1)
  expect(views).toBeGreaterThan(2) // including one for the plan
})

it('rpc/methods/eth/logs/getLogs: does not query the index when everything matches', async () => {
  const { context, asked } = indexed(() => [])
  expect(readResult<Found>(await getLogs.call(context, [everywhere]))).toHaveLength(120)
  expect(asked).toEqual([])
})

it('rpc/methods/eth/logs/getLogs: refuses too many indexed logs with the longest range that fits', async () => {
  const { context } = indexed(() => [0, 1])
  const few = { ...context, limits: { ...defaultEthLimits, logResults: 5 } }
  await expect(getLogs.call(few, [{ ...everywhere, address: account(1) }])).rejects.toMatchObject({
    code: -32602,
    message: 'query exceeds max results 5, retry with the range 0-5',
  })
})

it('rpc/methods/eth/logs/getLogs: refuses a slow search with the range it completed', async () => {
  const slow = { ...fakeContext(chain), limits: { ...defaultEthLimits, logMs: -1 } }
  const message = /^query exceeds max time -1 ms, retry with the range 0-1\d$/
  await expect(getLogs.call(slow, [{ ...everywhere, address: account(1) }])).rejects.toThrow(message)
})
