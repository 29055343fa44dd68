import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, signedTransaction } from '#test/harness/rpc/fakes'
import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import { ethRegistry } from '../../../methods.ts'
import { rewardsOf } from './feeHistory.ts'

/** Blocks of one and two transactions of 21,000 gas with a priority fee of 5 wei; each header has 21,000 of 30 M gas. */
const chain = fakeChain([[], [[]], [[], []], []])
const context = fakeContext(chain)
const ask = async (...params: readonly unknown[]) => ethRegistry.get('eth_feeHistory')?.call(context, params)

it('rpc/methods/eth/fees/feeHistory: returns blocks up to the newest, the next base fee, and priority fees by percentile', async () => {
  const ratio = 21_000 / 30_000_000
  expect(await ask('0x2', '0x2', [0, 50, 100])).toEqual({
    ...{ oldestBlock: '0x1', baseFeePerGas: ['0x3e8', '0x3e8', '0x3e8'], gasUsedRatio: [ratio, ratio] },
    ...{ baseFeePerBlobGas: ['0x0', '0x0', '0x0'], blobGasUsedRatio: [0, 0] },
    reward: [
      ['0x5', '0x5', '0x5'],
      ['0x5', '0x5', '0x5'],
    ],
  })
})

it('rpc/methods/eth/fees/feeHistory: computes the base fee of the block after the head', async () => {
  expect(await ask('0x1', 'latest')).toMatchObject({ oldestBlock: '0x3', baseFeePerGas: ['0x3e8', '0x3e9'] })
  expect(await ask('0x1', 'pending')).toMatchObject({ oldestBlock: '0x3' })
})

it('rpc/methods/eth/fees/feeHistory: starts at genesis when too many blocks are requested, and has no rewards without percentiles', async () => {
  const history = (await ask('0xffffffff', 'latest')) as { oldestBlock: string; gasUsedRatio: number[] }
  expect(history).toMatchObject({ oldestBlock: '0x0', gasUsedRatio: { length: 4 } })
  expect(history).not.toHaveProperty('reward')
  expect(await ask('0x1', 'latest', [])).toMatchObject({ reward: [[]] })
})

it('rpc/methods/eth/fees/feeHistory: returns no blocks for a count of zero', async () => {
  expect(await ask('0x0', 'latest')).toMatchObject({ oldestBlock: '0x0', baseFeePerGas: [], gasUsedRatio: [] })
})

it('rpc/methods/eth/fees/feeHistory: returns at most 1,024 blocks', async () => {
  const long = fakeContext(fakeChain(Array.from({ length: 1_100 }, () => [])))
  const history = (await ethRegistry.get('eth_feeHistory')?.call(long, ['0x44c', 'latest'])) as { gasUsedRatio: number[] }
  expect(history).toMatchObject({ oldestBlock: '0x4c', gasUsedRatio: { length: 1_024 } })
})

it.each<[string, readonly unknown[], object]>([
  ['descending percentiles', ['0x1', 'latest', [50, 20]], { message: 'invalid reward percentiles' }],
  ['a percentile above 100', ['0x1', 'latest', [100.5]], { message: 'invalid reward percentiles' }],
  ['a percentile below 0', ['0x1', 'latest', [-1]], { message: 'invalid reward percentiles' }],
  ['a percentile as text', ['0x1', 'latest', ['0x1']], { message: 'Invalid params' }],
  ['too many percentiles', ['0x1', 'latest', Array(101).fill(1)], { message: 'list of 101 items, at most 100 allowed' }],
  ['a block beyond the head', ['0x1', '0x4'], { message: 'request beyond head block: requested 4, head 3' }],
  ['no newest block', ['0x1'], {}],
  ['an invalid count', ['x', 'latest'], {}],
  ['nothing', [], {}],
])('rpc/methods/eth/fees/feeHistory: refuses %s (-32602)', async (_what, params, expected) => {
  await expect(ask(...params)).rejects.toMatchObject({ code: -32602, ...expected })
})

it('rpc/methods/eth/fees/feeHistory: restarts when the chain reorganises between two turns', async () => {
  const moving = fakeChain(Array.from({ length: 21 }, () => [[]]))
  const answer = ethRegistry.get('eth_feeHistory')?.call(fakeContext(moving), ['0x14', 'latest', [50]])
  moving.reorganise(
    10,
    Array.from({ length: 12 }, () => [[{ address: account(1), topics: [], data: new Uint8Array(0) }]]),
  )
  expect(await answer).toMatchObject({ oldestBlock: '0x2', gasUsedRatio: { length: 20 } })
  expect(moving.views.open).toBe(0)
})

it.each([
  ['none', [], [0n, 0n, 0n]],
  ['one', [{ tip: 7n, gasUsed: 100n }], [7n, 7n, 7n]],
  [
    'a small one and a large one',
    [
      { tip: 1n, gasUsed: 10n },
      { tip: 9n, gasUsed: 90n },
    ],
    [1n, 9n, 9n],
  ],
  [
    'a large one and a small one',
    [
      { tip: 1n, gasUsed: 90n },
      { tip: 9n, gasUsed: 10n },
    ],
    [1n, 1n, 9n],
  ],
])('rpc/methods/eth/fees/feeHistory: weights rewards by gas: %s', (_what, tips, expected) => {
  expect(rewardsOf(tips, 100n, [0, 50, 100])).toEqual(expected)
})

/** Chain whose last block has this gas, DA footprint, and transactions of 21,000 gas with these priority fees. */
function lastBlock(gasUsed: bigint, footprint: bigint, tips: readonly bigint[]) {
  const transactions = tips.map((tip, index) => signedTransaction(index, tip))
  const full = fakeChain([[], tips.map(() => [])])
  const view = (): ChainView => {
    const inner = full.view()
    const block = (hash: Hash): ReturnType<ChainView['block']> => {
      const found = inner.block(hash)
      return found && { ...found, block: { header: { ...found.block.header, gasUsed, blobGasUsed: footprint }, transactions } }
    }
    return { ...inner, block }
  }
  return fakeContext({ ...full, view })
}

const most = 30_000_000n
const gwei = 10n ** 9n
it.each<[string, bigint, bigint, readonly bigint[], bigint]>([
  ['has room: suggests the minimum', most - 42_000n, 0n, [gwei, gwei], 1_000_000n],
  ['is full of lower fees: suggests the minimum', most, 0n, [1n, 2n, 3n], 1_000_000n],
  ['is full: suggests 10 % above the median', most - 20_999n, 0n, [1n, 2_000_000n, 9_000_000n], 2_200_000n],
  ['is full by its DA footprint: suggests 10 % above the median', 42_000n, most - 1n, [gwei / 2n, gwei / 2n], 550_000_000n],
])('rpc/methods/eth/fees/gasPrice: the last block %s', async (_what, gasUsed, footprint, tips, expected) => {
  const of = lastBlock(gasUsed, footprint, tips)
  expect(BigInt(String(await ethRegistry.get('eth_maxPriorityFeePerGas')?.call(of, [])))).toBe(expected)
  expect(BigInt(String(await ethRegistry.get('eth_gasPrice')?.call(of, [])))).toBe(expected + 1_000n)
})
