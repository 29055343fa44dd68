import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { configOfGenesis } from '#block/executionConfig'
import { type EthereumChain, openEthereumChain } from '#blockchain/ethereumChain'
import { importRlp } from '#blockchain/importRlp'
import { parseEthereumGenesis } from '#chainspec/ethereumGenesis'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createEthereumEvm } from '#evm/ethereumEvm'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { ethRegistry } from '#rpc/methods'
import { createRpcServer, type RpcServer } from '#rpc/server/httpServer'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { poolPort } from '#test/harness/rpc/recordedNode'
import { sharedDataDir } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createTxPool } from '#txpool/txPool'

/** Folder of the conformance suite of the execution-apis. */
export const compatDir: string = resolve(sharedDataDir, 'spec', 'rpc-compat')

/** Head of the suite's chain (`headfcu.json`): a call makes it the unsafe, safe and finalized head. */
export function compatHead(): string {
  const { params } = JSON.parse(readFileSync(resolve(compatDir, 'headfcu.json'), 'utf8')) as { params: [{ headBlockHash: string }] }
  return params[0].headBlockHash
}

/** Rollup config for functions that require one. They use only the facts that the genesis file has too. */
function compatConfig(genesis: Parameters<typeof configOfGenesis>[0]): RollupConfig {
  const { config: other } = networkOf('base')
  const config = configOfGenesis(genesis)
  return { ...other, ...config, blockTimeSec: 10, genesis: { ...other.genesis, ...config.genesis, l2TimeSec: genesis.header.timestamp } }
}

/** Imports the suite's chain into a store in memory. */
export function importCompatChain(): { readonly chain: EthereumChain; readonly config: RollupConfig } {
  const { genesis } = parseEthereumGenesis(JSON.parse(readFileSync(resolve(compatDir, 'genesis.json'), 'utf8')))
  const config = compatConfig(genesis)
  const chain = openEthereumChain({ kv: createMemoryKv(), evm: createEthereumEvm(createWasmEvm()), config, genesis: () => genesis })
  importRlp(chain, readFileSync(resolve(compatDir, 'chain.rlp')))
  chain.label(chain.head)
  return { chain, config }
}

/** Serves the methods of a node on that chain, with a pool. */
export async function serveCompatChain({ chain, config }: ReturnType<typeof importCompatChain>): Promise<RpcServer> {
  const shared = { evm: createEthereumEvm(createWasmEvm()), config, clock: systemClock, log: silentLog }
  const pool = createTxPool({ ...shared, view: () => chain.view(), senders: createSenders({ maxBytes: senderCacheBytes }) })
  pool.onPublished(chain.published)
  const context = createEthContext({
    ...{ ...shared, execution: chain, heads: scriptedFeed(), pool: poolPort(pool), version: '0.0.0', sync: () => undefined },
  })
  const deps = { pages: new Map(), ...shared }
  const options = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  return createRpcServer({ ...deps, registry: ethRegistry, contextOf: (cancellation) => ({ ...context, cancellation }) }, options)
}
