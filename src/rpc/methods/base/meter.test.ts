import { concat, keccak256 } from 'viem'
import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import type { BlockMeter, Bundle, BundleMeter, MeterOutcome, MeterWork } from '../../meterPorts.ts'
import { ethRegistry } from '../../methods.ts'

const chain = fakeChain([[], [[]]])
const block = chain.blocks[1]?.hash
const work = <T>(outcome: MeterOutcome<T>): MeterWork<T> => ({ work: () => true, outcome, [Symbol.dispose]: () => {} })
const pruned: MeterWork<never> = { work: () => 'pruned', outcome: undefined, [Symbol.dispose]: () => {} }

const meter: BlockMeter = {
  ...{ recoveryUs: 10, executionUs: 20, stateRootUs: 30 },
  transactions: [{ hash: topic(1), gasUsed: 21_000n, executionUs: 15 }],
}
const one = { hash: topic(1), from: account(1), to: account(2), value: 5n, feeCap: 100n, gasUsed: 21_000n, executionUs: 15 }
const two = { ...one, hash: topic(2), to: null, feeCap: 50n }
const bundleMeter: BundleMeter = { stateBlock: 1, results: [one, two], executionUs: 40, stateRootUs: 30 }

function ask(given: { block?: MeterWork<BlockMeter> | undefined; bundle?: MeterWork<BundleMeter> }, method: string, ...params: unknown[]) {
  const asked: Bundle[] = []
  const metering = {
    block: () => given.block,
    bundle(of: Bundle) {
      asked.push(of)
      return given.bundle ?? expect.fail()
    },
  }
  const answer = async (): Promise<unknown> => ethRegistry.get(method)?.call({ ...fakeContext(chain), metering }, params)
  return { answer: answer(), asked }
}

it.each([
  ['base_meterBlockByHash', block],
  ['base_meterBlockByNumber', '0x1'],
  ['base_meterBlockByNumber', 'latest'],
])('rpc/methods/base/meter: %s %s returns the times of all parts', async (method, at) => {
  expect(await ask({ block: work({ kind: 'measured', value: meter }) }, method, at).answer).toEqual({
    ...{ blockHash: block, blockNumber: 1, signerRecoveryTimeUs: 10, executionTimeUs: 20, stateRootTimeUs: 30, totalTimeUs: 60 },
    transactions: [{ txHash: topic(1), gasUsed: 21_000, executionTimeUs: 15 }],
  })
})

it.each<[string, string, MeterWork<BlockMeter> | undefined, object]>([
  ['an unknown block', '0x5', undefined, { code: -32602, message: 'block not found' }],
  ['the genesis block', '0x0', work({ kind: 'measured', value: meter }), { code: -32602 }],
  ['a block without retained state', '0x1', pruned, { code: 4444 }],
  [
    'a block that cannot be executed',
    '0x1',
    work({ kind: 'refused', reason: 'why' }),
    { code: -32603, message: 'Block metering failed: why' },
  ],
])('rpc/methods/base/meter: base_meterBlockByNumber refuses %s', async (_what, at, given, error) => {
  await expect(ask({ block: given }, 'base_meterBlockByNumber', at).answer).rejects.toMatchObject(error)
})

it('rpc/methods/base/meter: base_meterBundle returns gas, maximum fees, times, and the bundle hash', async () => {
  const bundle = { txs: ['0x02c0'], blockNumber: '0x2', minTimestamp: '0x10', revertingTxHashes: [topic(1)], replacementUuid: null }
  const { answer, asked } = ask({ bundle: work({ kind: 'measured', value: bundleMeter }) }, 'base_meterBundle', bundle)
  expect(await answer).toMatchObject({
    ...{ bundleGasPrice: '0x4b', coinbaseDiff: '0x3010b0', gasFees: '0x3010b0', ethSentToCoinbase: '0x0', stateBlockNumber: 1 },
    ...{ totalGasUsed: 42_000, totalExecutionTimeUs: 40, stateRootTimeUs: 30 },
    bundleHash: keccak256(concat([topic(1), topic(2)])),
    results: [
      {
        txHash: topic(1),
        fromAddress: account(1),
        toAddress: account(2),
        gasFees: '0x200b20',
        gasPrice: '0x64',
        gasUsed: 21_000,
        value: '0x5',
      },
      { txHash: topic(2), toAddress: null, gasFees: '0x100590', executionTimeUs: 15 },
    ],
  })
  expect(asked).toEqual([{ transactions: [Uint8Array.of(2, 0xc0)], timestamp: 16 }])
})

const bundle = { txs: [], blockNumber: 1 }
it.each<[string, MeterOutcome<BundleMeter>, unknown, object]>([
  ['a value that is not a bundle', { kind: 'refused', reason: '' }, 'x', { code: -32602 }],
  ['a bundle without transactions', { kind: 'refused', reason: '' }, { blockNumber: '0x1' }, { code: -32602 }],
  ['a malformed hash', { kind: 'refused', reason: '' }, { ...bundle, droppingTxHashes: ['0x1'] }, { code: -32602 }],
  ['malformed transaction bytes', { kind: 'unreadable', reason: 'why' }, bundle, { code: -32602, message: 'Failed to parse bundle: why' }],
  ['a bundle that cannot run', { kind: 'refused', reason: 'why' }, bundle, { code: -32603, message: 'Bundle metering failed: why' }],
])('rpc/methods/base/meter: base_meterBundle refuses %s', async (_what, outcome, given, error) => {
  await expect(ask({ bundle: work(outcome) }, 'base_meterBundle', given).answer).rejects.toMatchObject(error)
})

it("rpc/methods/base/meter: base_meteredPriorityFeePerGas is not configured (-32603), as on Base's client", async () => {
  await expect(ask({}, 'base_meteredPriorityFeePerGas', bundle).answer).rejects.toMatchObject({
    ...{ code: -32603, message: 'Priority fee estimation not configured' },
  })
})
