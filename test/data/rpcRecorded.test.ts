import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { l1AttributesIn } from '#chain/l2Ref'
import { parseRollupConfig } from '#chain/rollupConfig'
import { l1FeeFacts } from '#execution/l1FeeFacts'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { defaultEthLimits } from '#rpc/context'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import type { RollupNode } from '#rpc/ports'
import { createRpcServer, type RpcServer } from '#rpc/server'
import { compareExchanges, describeDifference } from '#test/harness/rpcExchanges'
import { type FeesOf, type RecordedBlock, recordedChain } from '#test/harness/rpcRecordedChain'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'

/** What a chain of recorded blocks can answer without a state. */
const methods = [
  ...['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt'],
  ...['eth_getBlockReceipts', 'eth_getLogs', 'eth_syncing'],
  ...['net_version', 'web3_clientVersion', 'eth_notAMethod', 'optimism_rollupConfig', 'optimism_version', 'optimism_notAMethod'],
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
  const feesOf: FeesOf = (block, raw) => l1FeeFacts(config.schedule, block.header.timestamp, l1AttributesIn(block), raw)
  const chain = recordedChain(blocks, { safe: blocks.length - 1, finalized }, feesOf)
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

it.each([
  ['op-bedrock-to-holocene', 115, 245],
  ['op-ecotone-to-jovian', 163, 274],
])('rpc/methods: %s: blocks, transactions, receipts and logs read as other clients wrote them', async (chainName, finalized, answers) => {
  const { eth, rollup } = await serve(chainName, finalized)
  await using _eth = eth
  await using _rollup = rollup
  const { equal, different } = await compareExchanges(eth.url, rollup.url, resolve(sharedDataDir, 'chains', chainName), { methods })
  expect(different.map(describeDifference)).toEqual([])
  expect(equal).toBe(answers)
})
