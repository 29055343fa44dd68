import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseRollupConfig } from '#chain/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { defaultEthLimits } from '#rpc/context'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import type { RollupNode } from '#rpc/ports'
import { createRpcServer, type RpcServer } from '#rpc/server'
import { compareExchanges, describeDifference } from '#test/harness/rpcExchanges'
import { type RecordedBlock, recordedChain } from '#test/harness/rpcRecordedChain'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'

/** What a chain of recorded blocks can answer without a state. */
const methods = [
  ...['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getLogs', 'eth_syncing'],
  ...['net_version', 'web3_clientVersion', 'eth_notAMethod', 'optimism_rollupConfig', 'optimism_version', 'optimism_notAMethod'],
]
const receiptMethods = ['eth_getTransactionReceipt', 'eth_getBlockReceipts']
/** What execution computes. */
const fees = [
  ...['l1GasPrice', 'l1GasUsed', 'l1Fee', 'l1FeeScalar', 'l1BaseFeeScalar', 'l1BlobBaseFee', 'l1BlobBaseFeeScalar'],
  ...['operatorFeeScalar', 'operatorFeeConstant', 'daFootprintGasScalar', 'blobGasUsed'],
]

type Chain = { readonly blocks: readonly RecordedBlock[] }

const idle: Omit<RollupNode, 'config'> = {
  status: () => {
    throw new Error('not asked')
  },
  readiness: () => ({ problems: [] }),
  output: async () => undefined,
  safeHeadAtL1: () => undefined,
}

async function serve(chainName: string, finalized: number): Promise<{ eth: RpcServer; rollup: RpcServer }> {
  const { config } = parseRollupConfig(readSharedJson(`chains/${chainName}/rollup.json`))
  const { blocks } = readSharedJson<Chain>(`chains/${chainName}/l2.json.zst`)
  const chain = recordedChain(blocks, { safe: blocks.length - 1, finalized })
  const eth = { chain, executor: { call: () => undefined }, chainId: config.l2ChainId, clientVersion: 'basalt', limits: defaultEthLimits }
  const deps = { pages: new Map(), log: silentLog, clock: systemClock }
  const options = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  return {
    eth: await createRpcServer({ ...deps, registry: ethRegistry, contextOf: (ticket) => ({ ...eth, ticket }) }, options),
    rollup: await createRpcServer(
      { ...deps, registry: rollupRegistry, contextOf: (ticket) => ({ rollup: { ...idle, config }, version: 'basalt', ticket }) },
      options,
    ),
  }
}

describe.each([
  ['op-bedrock-to-holocene', 115, 146, 99],
  ['op-ecotone-to-jovian', 163, 159, 115],
])('%s', (chainName, finalized, blockAnswers, receiptAnswers) => {
  const dir = resolve(sharedDataDir, 'chains', chainName)

  it.each([
    ['blocks, transactions and logs', { methods }, blockAnswers],
    ['receipts but for their L1 fees', { methods: receiptMethods, ignoring: fees }, receiptAnswers],
  ])('rpc/methods: %s read as another client wrote them', async (_what, options, answers) => {
    const { eth, rollup } = await serve(chainName, finalized)
    await using _eth = eth
    await using _rollup = rollup
    const { equal, different } = await compareExchanges(eth.url, rollup.url, dir, options)
    expect(different.map(describeDifference)).toEqual([])
    expect(equal).toBe(answers)
  })
})
